/**
 * The promises of reservations about the work that is done at their turns, and not only about the tokens.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { decideRateLimit } from "../../core/decide.js";
import type { Row } from "../../core/rows/row.js";
import { windowAt } from "../../core/windows.js";

const PERIOD = 1000;
const window = (capacity: number) =>
  ({ kind: "fixed window", rate: 8, period: PERIOD, start: 0, capacity }) as const;

interface Call {
  wait: number;
  count: number;
  reserve: boolean;
}

const anyCalls: fc.Arbitrary<Call[]> = fc.array(
  fc.record({
    wait: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1500 })),
    count: fc.integer({ min: 1, max: 8 }),
    reserve: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
);

/** The work of these calls: when it is done, and how many tokens it cost. */
function workOf(config: RateLimitConfig, calls: readonly Call[]) {
  let row: Row | null = null;
  let now = 0;
  const work: { at: number; count: number }[] = [];
  for (const { wait, count, reserve } of calls) {
    now += wait;
    const { result, next } = decideRateLimit(row, config, now, count, reserve);
    row = next ?? row;
    if (result.ok) work.push({ at: now + (result.retryAfter ?? 0), count });
  }
  return work;
}

const sum = (work: readonly { count: number }[]) => work.reduce((all, { count }) => all + count, 0);

it("lets two reservations of a window begin with what was left of the window before", () => {
  const config = window(8);
  const first = decideRateLimit({ used: 3, ts: 0 }, config, 400, 8, true);
  const second = decideRateLimit(first.next!, config, 400, 5, true);
  // 13 run at 1,000: the 5 that were left, and the 8 of the window that starts there.
  expect([first.result.retryAfter, second.result.retryAfter]).toEqual([600, 600]);
  // So that window has nothing left, and the next one its own 8.
  expect(decideRateLimit(second.next!, config, 1000, 1).result).toMatchObject({ retryAfter: 1000 });
  expect(decideRateLimit(second.next!, config, 2000, 8).result).toMatchObject({
    ok: true,
    value: 0,
  });
});

it.each([8, 12, 20])(
  "runs no more in windows than they and a full bucket hold, of a capacity of %s",
  (capacity) => {
    const config = window(capacity);
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const work = workOf(config, calls).map(({ at, count }) => ({
          at: windowAt(config, at),
          count,
        }));
        for (const { at: from } of work) {
          for (const { at: to } of work.filter(({ at }) => at >= from)) {
            const run = sum(work.filter(({ at }) => at >= from && at <= to));
            const windows = (to - from) / PERIOD + 1;
            expect(run).toBeLessThanOrEqual(
              capacity + config.rate * windows - (from === 0 ? 8 : 0),
            );
          }
        }
      }),
      { numRuns: 1000 },
    );
  },
);

it("runs no more in any span than the capacity and the refill, of a token bucket", () => {
  const config = { kind: "token bucket", rate: 8, period: PERIOD } as const;
  fc.assert(
    fc.property(anyCalls, (calls) => {
      const work = workOf(config, calls);
      for (const { at: from } of work) {
        for (const { at: to } of work.filter(({ at }) => at >= from)) {
          const run = sum(work.filter(({ at }) => at >= from && at <= to));
          // A wait is a whole number of ms, and so up to a ms too long.
          expect(run).toBeLessThanOrEqual(8 + ((to - from + 1) * 8) / PERIOD + 1e-6);
        }
      }
    }),
    { numRuns: 1000 },
  );
});
