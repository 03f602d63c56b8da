/** Rows of better-auth's rules. The limit of the same name has pruned them. */
import { describe, expect, it } from "vitest";
import { betterAuthStorage, HOUR, MINUTE, SECOND } from "../../../server/index.js";
import type { RateLimitStore } from "../../../server/store/store.js";
import { stores } from "../../support/stores.js";
import { twoProcesses } from "../../support/two-processes.js";

/** The rules of an application: as many seconds, and so many requests in them. */
const SIGN_IN = { window: 10, max: 3 };
const SIGN_UP = { window: 60, max: 5 };
/** The largest `max`, and the longest `window`. */
const all = { kind: "fixed window", rate: 5, period: MINUTE } as const;

const rowsOf = (store: RateLimitStore, name: string) => store.list!(name, undefined, 99);

describe.each(stores)("better-auth's rows on %s", (_name, open) => {
  it("are deleted once they are full, and a request is never let through because of that", async () => {
    const at = await twoProcesses(open, { "better-auth": all });
    const { consume } = betterAuthStorage(at.limiter);
    const denied: number[] = [];
    for (let i = 0; i < 6; i++) {
      const signUp = await consume("192.0.2.1|/sign-up", SIGN_UP);
      if (!signUp.allowed) denied.push(signUp.retryAfter!);
    }
    expect(denied).toHaveLength(1);
    // Until its window has ended, no prune makes it forget what was used.
    let passed = 0;
    for (; passed < denied[0]! - 1; passed++) {
      at.clock.advance(SECOND);
      expect(await at.limiter.prune()).toBe(0);
      expect((await consume("192.0.2.1|/sign-up", SIGN_UP)).allowed).toBe(false);
    }
    expect(await rowsOf(at.store, "better-auth")).toHaveLength(1);
    // The windows of the limit begin with those of the rule, or in them.
    at.clock.advance(3 * MINUTE);
    expect(await at.limiter.prune()).toBe(1);
    expect(await consume("192.0.2.1|/sign-up", SIGN_UP)).toEqual({
      allowed: true,
      retryAfter: null,
    });
  });

  it("are decided by the rules, and not by the limit, whose usage counts them", async () => {
    const usage = { every: HOUR, keep: HOUR };
    const at = await twoProcesses(open, { "better-auth": { ...all, usage } });
    const { consume } = betterAuthStorage(at.limiter);
    const allowed = [];
    for (let i = 0; i < 7; i++) {
      allowed.push((await consume("192.0.2.1|/sign-in", SIGN_IN)).allowed);
      const twice = { ...SIGN_UP, max: 2 * all.rate };
      expect((await consume("192.0.2.1|/session", twice)).allowed).toBe(true);
    }
    expect(allowed.filter(Boolean)).toHaveLength(3);
    expect(at.events.map(({ name }) => name)).toEqual(Array(14).fill("better-auth"));
    const now = at.clock();
    const { total } = await at.limiter.usage("better-auth", { from: now - HOUR, to: now + HOUR });
    expect(total).toMatchObject({ granted: 10, denied: 4 });
  });

  it("stay where the limiter has no limit of their name", async () => {
    const at = await twoProcesses(open, { "auth rules": all });
    await betterAuthStorage(at.limiter).consume("192.0.2.1|/sign-in", SIGN_IN);
    const { consume } = betterAuthStorage(at.limiter, { name: "auth rules" });
    await consume("192.0.2.1|/sign-in", SIGN_IN);
    at.clock.advance(24 * HOUR);
    expect(await at.limiter.prune()).toBe(1);
    expect(await rowsOf(at.store, "auth rules")).toEqual([]);
    expect(await rowsOf(at.store, "better-auth")).toHaveLength(1);
  });
});
