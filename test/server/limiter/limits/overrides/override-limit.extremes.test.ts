/** Overrides and configs whose numbers exceed the range of doubles: an error in words, on every store. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  RateLimitConfigError,
} from "../../../../../server/index.js";
import { storesAndRedis } from "../../../../support/stores.js";
import { twoProcesses } from "../../../../support/two-processes.js";

const limits = {
  send: { kind: "token bucket", rate: 1, period: MINUTE },
} as const;
const plan = { kind: "token bucket", rate: 10, period: MINUTE } as const;

describe.each(storesAndRedis)("on %s", (_, open) => {
  it("refuses what a rule makes of a call's own config, and serves the calls beside it", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, { overrides: true });
    // Right for the limit itself.
    await limiter.overrides.set("send", { key: "huge", times: Number.MAX_VALUE });
    const [huge, other] = await Promise.allSettled([
      limiter.limit("send", { key: "huge", config: plan }),
      limiter.limit("send", { key: "other", config: plan }),
    ]);
    expect(huge).toMatchObject({ status: "rejected" });
    const { reason } = huge as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(RateLimitConfigError);
    expect((reason as Error).message).toMatch(
      /times 1\.797.*makes a config of "send" that cannot work: .*rate must be .*Infinity/,
    );
    expect(other).toMatchObject({ status: "fulfilled", value: { ok: true, value: 9 } });
    const options = { key: "huge", config: plan };
    for (const call of [
      limiter.check("send", options),
      limiter.charge("send", options),
      limiter.reset("send", options),
      limiter.refund("send", options),
      limiter.getValue("send", options),
    ]) {
      await expect(call).rejects.toThrow(RateLimitConfigError);
    }
    // The limit's own config still is what the rule was checked against.
    expect(await limiter.limit("send", { key: "huge" })).toMatchObject({ ok: true });
    clock.advance(60 * MINUTE);
    await limiter.prune();
    expect(await limiter.limit("send", { key: "huge" })).toMatchObject({ ok: true });
  });

  it("refuses what a rule makes of a plan that came after it, and serves the calls beside it", async () => {
    await using opened = await open();
    const { store } = opened;
    const clock = createManualClock();
    const shared = { kind: "token bucket", period: MINUTE } as const;
    const before = createRateLimiter({
      store,
      clock,
      overrides: true,
      plans: ["free"],
      limits: { send: { ...shared, plans: { free: 1 } } },
    });
    await before.overrides.set("send", { key: "huge", times: Number.MAX_VALUE });
    const limiter = createRateLimiter({
      store,
      clock,
      overrides: true,
      plans: ["free", "pro"],
      limits: { send: { ...shared, plans: { free: 1, pro: 10 } } },
    });
    const [huge, other] = await Promise.allSettled([
      limiter.limit("send", { key: "huge", plan: "pro" }),
      limiter.limit("send", { key: "other", plan: "pro" }),
    ]);
    expect((huge as PromiseRejectedResult).reason).toBeInstanceOf(RateLimitConfigError);
    expect(other).toMatchObject({ status: "fulfilled", value: { ok: true, value: 9 } });
    const free = { key: "huge", plan: "free" } as const;
    expect(await limiter.limit("send", free)).toMatchObject({ ok: true });
    clock.advance(60 * MINUTE);
    await limiter.prune();
    expect(await limiter.limit("send", free)).toMatchObject({ ok: true });
  });

  it("keeps the rows of the largest config that there is finite", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const most = { kind: "token bucket", rate: Number.MAX_VALUE, period: 1 } as const;
    const limiter = createRateLimiter({ store: opened.store, limits: { most }, clock });
    for (let i = 0; i < 3; i++) {
      await limiter.charge("most", { count: Number.MAX_VALUE });
      await limiter.limit("most", { count: Number.MAX_VALUE, reserve: true });
    }
    const { value } = await limiter.getValue("most");
    // A debt would be more than a double holds.
    expect(value).toBe(0);
    clock.advance(MINUTE);
    expect((await limiter.getValue("most")).value).toBe(Number.MAX_VALUE);
  });
});

it("does not make credits of a limit whose rate would be rounded to 0", async () => {
  const quick = { kind: "token bucket", rate: 1e300, capacity: 1, period: 1 } as const;
  const limiter = createRateLimiter({ store: memoryStore(), limits: { quick }, overrides: true });
  await limiter.overrides.set("quick", { times: 1e-310 });
  expect(await limiter.limit("quick")).toMatchObject({ ok: true });
  await limiter.overrides.set("quick", { key: "ada", times: 1e-310 });
  const config = { ...quick, rate: 1e-15 };
  await expect(limiter.limit("quick", { key: "ada", config })).rejects.toThrow(
    'times 1e-310 makes a config of "quick" that cannot work: its rate would be 0',
  );
});
