/** A denied call is told when holds lapse, if that is before the bucket has refilled. */
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  second: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  tokens: { kind: "token bucket", rate: 100, period: DAY, holds: true },
  remembering: {
    kind: "fixed window",
    rate: 100,
    period: "month",
    start: 0,
    holds: true,
    rememberDenials: HOUR,
  },
} as const;
const key = "user";
const release = (ms: number) => ({ for: ms, then: "release" }) as const;
const keep = (ms: number) => ({ for: ms, then: "keep" }) as const;

describe.each(storesAndRedis)("the wait of a denied call on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);

  it("ends when the hold lapses that brings enough, and not one ms earlier", async () => {
    const at = await setUp();
    await at.limiter.limit("quota", { key, count: 10, once: "a", hold: release(SECOND) });
    await at.limiter.limit("quota", { key, count: 30, once: "b", hold: keep(2 * SECOND) });
    await at.limiter.limit("quota", { key, count: 40, once: "c", hold: release(MINUTE) });
    await at.limiter.limit("quota", { key, count: 20, once: "d", hold: release(HOUR) });
    const wants = async (count: number) =>
      (await at.peer.check("quota", { key, count })).retryAfter;
    expect(await wants(10)).toBe(SECOND);
    expect(await wants(11)).toBe(MINUTE);
    expect(await wants(51)).toBe(HOUR);
    // What is kept comes back with the next month alone.
    expect(await wants(71)).toBeGreaterThan(DAY);
    at.clock.advance(MINUTE - 1);
    const early = await at.peer.limit("quota", { key, count: 11 });
    expect(early).toMatchObject({ ok: false, retryAfter: 1 });
    at.clock.advance(1);
    expect(await at.peer.limit("quota", { key, count: 11 })).toMatchObject({ ok: true });
  });

  it("counts what refills until then, in a token bucket", async () => {
    const at = await setUp();
    await at.limiter.limit("tokens", { key, count: 50, once: "a", hold: release(HOUR) });
    await at.limiter.limit("tokens", { key, count: 50 });
    const { retryAfter } = await at.peer.limit("tokens", { key, count: 50 });
    expect(retryAfter).toBe(HOUR);
    const less = await at.peer.limit("tokens", { key, count: 1 });
    expect(less.retryAfter).toBe(DAY / 100);
    at.clock.advance(HOUR);
    expect(await at.peer.limit("tokens", { key, count: 50 })).toMatchObject({ ok: true });
  });

  it("is the one of all limits of a call together", async () => {
    const at = await setUp();
    await at.limiter.limit("quota", { key, count: 100, once: "a", hold: release(SECOND) });
    await at.limiter.limit("second", { key, count: 100, once: "a", hold: release(MINUTE) });
    const names = ["quota", "second"] as const;
    const items = names.map((name) => ({ name, key, count: 1 }));
    expect(await at.peer.limitAll(items)).toMatchObject({ ok: false, retryAfter: MINUTE });
    const first = await at.peer.limitFirst(names, { key, count: 1 });
    expect(first).toMatchObject({ ok: false, retryAfter: SECOND });
    at.clock.advance(MINUTE);
    expect(await at.peer.limitAll(items)).toMatchObject({ ok: true });
  });

  it("is told to each call where denials are remembered", async () => {
    const at = await setUp();
    await at.limiter.limit("remembering", { key, count: 100, once: "a", hold: release(MINUTE) });
    for (let i = 0; i < 3; i++) {
      const denied = await at.limiter.limit("remembering", { key, count: 1 });
      expect(denied).toMatchObject({ ok: false, retryAfter: MINUTE });
    }
    at.clock.advance(MINUTE);
    expect(await at.limiter.limit("remembering", { key, count: 1 })).toMatchObject({ ok: true });
  });

  it("is on a page what the call is told", async () => {
    const at = await setUp();
    await at.limiter.limit("quota", { key, count: 30, once: "a", hold: release(SECOND) });
    await at.limiter.limit("quota", { key, count: 30, once: "b", hold: keep(SECOND) });
    await at.limiter.limit("quota", { key, count: 40, once: "c", hold: release(MINUTE) });
    const now = at.clock();
    const [snapshot] = await at.peer.snapshots([{ name: "quota", key }]);
    expect(snapshot).toMatchObject({
      value: 0,
      held: 100,
      lapses: [
        { at: now + SECOND, count: 30 },
        { at: now + MINUTE, count: 40 },
      ],
    });
    await at.limiter.settle("quota", { key, once: "a" }, 30);
    const [later] = await at.peer.snapshots([{ name: "quota", key }]);
    expect(later!.lapses).toEqual([{ at: now + MINUTE, count: 40 }]);
  });
});
