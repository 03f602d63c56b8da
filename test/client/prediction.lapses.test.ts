/** A page that knows when holds lapse predicts what the server answers. */
import { describe, expect, it } from "vitest";
import { availableAt, predict, refillsAt, remainingAt, take } from "../../client/prediction.js";
import { isSnapshot } from "../../client/is-snapshot.js";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../server/index.js";

const limits = {
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  tokens: { kind: "token bucket", rate: 100, period: DAY, holds: true },
} as const;
const key = "user";

describe.each(["quota", "tokens"] as const)("holds of %s", (name) => {
  async function setUp() {
    const clock = createManualClock();
    const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
    const holds = [
      [30, MINUTE],
      [20, 2 * MINUTE],
      [50, HOUR],
    ] as const;
    for (const [count, ms] of holds) {
      const hold = { for: ms, then: "release" } as const;
      await limiter.limit(name, { key, count, once: `${ms}`, hold });
    }
    const [snapshot] = await limiter.snapshots([{ name, key }]);
    return { clock, limiter, snapshot: snapshot! };
  }

  it("open the button at the ms at which the call passes", async () => {
    for (const count of [1, 29, 31, 45, 60, 99]) {
      const { clock, limiter, snapshot } = await setUp();
      const at = availableAt(snapshot, count);
      const { retryAfter } = await limiter.check(name, { key, count });
      expect(at - clock()).toBe(retryAfter);
      clock.set(at - 1);
      expect(predict(snapshot, 0, at - 1, count)).toMatchObject({ retryAt: at });
      expect(await limiter.check(name, { key, count })).toMatchObject({ ok: false });
      clock.set(at);
      expect(predict(snapshot, 0, at, count)).toMatchObject({ retryAt: undefined });
      expect(await limiter.limit(name, { key, count })).toMatchObject({ ok: true });
    }
  });

  it("count as what remains after they have lapsed", async () => {
    const { clock, limiter, snapshot } = await setUp();
    for (const ms of [MINUTE - 1, 1, MINUTE, HOUR, DAY]) {
      clock.advance(ms);
      const { value } = await limiter.getValue(name, { key });
      expect(remainingAt(snapshot, clock())).toBe(Math.floor(value + 1e-9));
    }
  });

  it("refill the limit, and calls of the page take from what came back", async () => {
    const { clock, limiter, snapshot } = await setUp();
    const now = clock();
    expect(refillsAt(snapshot, 20)).toBe(now + MINUTE);
    const taken = take(snapshot, now + MINUTE, 25);
    clock.set(now + MINUTE);
    await limiter.limit(name, { key, count: 25 });
    const at = availableAt(taken, 20);
    const { retryAfter } = await limiter.check(name, { key, count: 20 });
    expect(at - clock()).toBe(retryAfter);
  });

  it("are refused where they are malformed", async () => {
    const { snapshot } = await setUp();
    expect(isSnapshot(snapshot)).toBe(true);
    for (const lapses of [5, [null], [{ at: 1 }], [{ at: "1", count: 1 }], [{ at: NaN, count: 1 }]])
      expect(isSnapshot({ ...snapshot, lapses })).toBe(false);
  });
});
