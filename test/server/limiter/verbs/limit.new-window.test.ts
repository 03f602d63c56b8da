/** `afterBlock: "new window"`, on every store: closed for the block, and full right after it. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  calculateRateLimit,
  createRateLimiter,
  DAY,
  HOUR,
  type RateLimitResult,
} from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  logIn: {
    kind: "fixed window",
    rate: 10,
    period: 90 * DAY,
    blockFor: HOUR,
    afterBlock: "new window",
  },
} as const;
const key = "ann";
const granted = (answers: readonly RateLimitResult[]) => answers.filter(({ ok }) => ok).length;

describe.each(stores)("a limit that begins anew after its block, on %s", (_, open) => {
  it("grants all of its tokens again at the end of the block, and not a ms before", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const servers = [opened.store, opened.peer].map((store) =>
      createRateLimiter({ store, clock, limits }),
    );
    const volley = () =>
      Promise.all(Array.from({ length: 24 }, (__, i) => servers[i % 2]!.limit("logIn", { key })));
    for (let round = 0; round < 3; round++) {
      const start = clock();
      expect(granted(await volley())).toBe(10);
      for (const at of [1, HOUR / 2, HOUR - 1]) {
        clock.set(start + at);
        const waits = (await volley()).map(({ ok, retryAfter }) => !ok && retryAfter);
        expect(new Set(waits)).toEqual(new Set([HOUR - at]));
        // A page calculates with the snapshot.
        const [snapshot] = await servers[0]!.snapshots([{ name: "logIn", key }]);
        const predicted = calculateRateLimit(snapshot!, snapshot!.config, clock(), 1);
        expect(predicted.retryAfter).toBe(HOUR - at);
      }
      clock.set(start + HOUR);
      expect(await servers[1]!.getValue("logIn", { key })).toMatchObject({ value: 10 });
    }
  });

  it("gives back nothing from before the block, is reset by reset, and kept by prune", async () => {
    const { clock, limiter } = await twoProcesses(open, limits);
    const result = await limiter.limit("logIn", { key, count: 10 });
    await limiter.limit("logIn", { key });
    await limiter.refund("logIn", { key, count: 1, result });
    expect(await limiter.prune()).toBe(0);
    clock.advance(HOUR);
    await limiter.limit("logIn", { key, count: 10 });
    await limiter.settle(result, 0);
    expect(await limiter.getValue("logIn", { key })).toMatchObject({ value: 0 });
    await limiter.limit("logIn", { key });
    await limiter.reset("logIn", { key });
    expect(await limiter.getValue("logIn", { key })).toMatchObject({ value: 10 });
    await limiter.limit("logIn", { key, count: 10 });
    await limiter.limit("logIn", { key });
    // Full again at the end of the block, so the row says no more than a missing one.
    clock.advance(HOUR - 1);
    expect(await limiter.prune()).toBe(0);
    clock.advance(HOUR);
    expect(await limiter.prune()).toBe(1);
  });
});
