/**
 * Whatever happens on the server, an observer that has received it predicts the server's next decision.
 * Sharded limits, which are less predictable, are in `prediction.agreement-shards.test.ts`.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toleranceOf } from "../../core/config.js";
import { mostSatisfiable } from "../../core/count.js";
import { HOUR, MINUTE, SECOND } from "../../server/index.js";
import { anyClockChange, anyEvent, type Step } from "../support/schedule.js";
import { createWorld, follow, type Follower, type Latency, type World } from "../support/world.js";
import { cases } from "../support/cases.js";

const LIMITS = {
  bucket: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  slow: { kind: "token bucket", rate: 1 / 3, period: 7 * SECOND, capacity: 5 },
  windowed: { kind: "fixed window", rate: 4, period: HOUR },
  piling: { kind: "fixed window", rate: 2, period: MINUTE, capacity: 6, start: 17 },
  owing: { kind: "token bucket", rate: 5, period: SECOND, maxReserved: 12 },
  weeks: {
    kind: "fixed window",
    rate: 2,
    capacity: 3,
    period: "week",
    timeZone: "America/New_York",
  },
  owingWindows: { kind: "fixed window", rate: 3, period: 10 * SECOND, maxReserved: 7 },
} as const;
type Name = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as Name[];

const schedule = fc.array<Step>(fc.oneof({ weight: 4, arbitrary: anyEvent }, anyClockChange), {
  maxLength: 12,
});
const skew = fc.constantFrom(0, HOUR, -HOUR);
const anyPart = fc.double({ min: 0, max: 1, noNaN: true });
const NO_LATENCY: Latency = [0, 0];
/** In equal parts there and back, or all of it on one of the two ways. */
const anyLatency = fc.constantFrom<Latency>([20, 20], [0, 75], [75, 0], [1, 0], [300, 700]);

/** The observer and the server at the instant that the observer believes it to be there. */
async function expectAgreement(
  { limiter, at }: World,
  { observer, item, local }: Follower,
  name: Name,
  counts: readonly number[],
): Promise<void> {
  const held = observer.check(item, local(), 0)!;
  const { value, config } = await at(held.now, () => limiter.getValue(name));
  expect(held.value).toBe(value);
  // A list of windows begins with that of its instant.
  expect({ ...observer.config(item), starts: [] }).toEqual({ ...config, starts: [] });
  expect(observer.remaining(item)).toBe(Math.max(0, Math.floor(value + toleranceOf(config))));
  for (const count of counts) {
    const check = (ms: number) => at(held.now + ms, () => limiter.check(name, { count }));
    const { ok, retryAfter, value: left } = await check(0);
    const retryAt = ok ? undefined : local() + retryAfter;
    const checked = observer.check(item, local(), count)!;
    expect(checked).toMatchObject({
      // What a denied call would leave, the server does not say.
      value: ok ? left : expect.closeTo(value - count, 9),
      now: held.now,
      retryAt,
    });
    expect(observer.status(item, count)).toEqual({ ok, retryAt });
    if (ok) continue;
    // It turns ok at the very ms at which the server would grant it, and not one ms earlier.
    const [before, then] = [retryAfter - 1, retryAfter];
    expect((await check(before)).ok).toBe(false);
    expect((await check(then)).ok).toBe(true);
    expect(observer.check(item, local() + before, count)!.retryAt).toBe(retryAt);
    expect(observer.check(item, local() + then, count)!.retryAt).toBeUndefined();
  }
}

/** @param now when the server said so, on the visitor's clock. */
function statusOf({ ok, retryAfter = 0 }: { ok: boolean; retryAfter?: number }, now: number) {
  return { ok, retryAt: ok ? undefined : now + retryAfter };
}

describe("an observer of a limiter", () => {
  it.each(NAMES)("agrees with it on %s after every step", async (name) => {
    const world = createWorld(LIMITS);
    const most = mostSatisfiable(LIMITS[name], false);
    await fc.assert(
      fc.asyncProperty(schedule, skew, anyPart, async (steps, ahead, part) => {
        using follower = await follow(world, name, ahead, NO_LATENCY);
        for (const step of steps) {
          const sent = await follower.perform(step, most);
          if (sent) expect(sent.predicted).toEqual(statusOf(sent.actual, follower.local()));
          expect(follower.serverNow()).toBe(world.clock());
          await expectAgreement(world, follower, name, [0, 1, part * most, most]);
        }
      }),
      { numRuns: cases(100) },
    );
  });

  it.each(NAMES)(
    "is off on %s by no more than the difference of the ways there and back",
    async (name) => {
      const world = createWorld(LIMITS);
      const most = mostSatisfiable(LIMITS[name], false);
      await fc.assert(
        fc.asyncProperty(schedule, skew, anyLatency, async (steps, ahead, latency) => {
          using follower = await follow(world, name, ahead, latency);
          const [there, back] = latency;
          for (const step of steps) {
            await follower.perform(step, most);
            // Half a round trip at most; rounded down, so that no call is sent too early.
            expect(follower.serverNow() - world.clock()).toBe(Math.floor((there - back) / 2));
            // Apart from the server's time, nothing is off.
            await expectAgreement(world, follower, name, [1]);
          }
        }),
        { numRuns: cases(30) },
      );
    },
  );
});
