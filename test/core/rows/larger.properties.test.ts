/** Changing back and forth between plans, at any instants and with any takes, gives no extra tokens. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { usedAt } from "../../../core/rows/reading.js";
import { capacityOf, floorOf, type PeriodicConfig } from "../../../core/config.js";
import { takeTokens } from "../../../core/decide.js";
import type { Row } from "../../../core/rows/row.js";
import { cases } from "../../support/cases.js";

const PERIOD = 1000;
const T = 1_800_000_000_000;
const rate = fc.integer({ min: 1, max: 20 });
const buckets = fc
  .tuple(rate, rate, fc.integer({ min: 1, max: 10 }), fc.integer({ min: 10, max: 60 }))
  .map(([slow, fast, small, large]): [PeriodicConfig, PeriodicConfig] => [
    { kind: "token bucket", period: PERIOD, rate: slow, capacity: small },
    { kind: "token bucket", period: PERIOD, rate: fast, capacity: large },
  ]);
const windows = fc
  .tuple(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 10, max: 60 }))
  .map(([small, large]): [PeriodicConfig, PeriodicConfig] => [
    { kind: "fixed window", period: PERIOD, start: 0, rate: small },
    { kind: "fixed window", period: PERIOD, start: 0, rate: large },
  ]);
const steps = fc.array(
  fc.record({
    wait: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3 * PERIOD })),
    isLarge: fc.boolean(),
    count: fc.integer({ min: 1, max: 60 }),
  }),
  { minLength: 2, maxLength: 30 },
);

it.each([
  ["buckets", buckets],
  ["windows", windows],
])(
  "never grants more than the larger one holds, and what refills by the faster: %s",
  (_, plans) => {
    let grants = 0;
    fc.assert(
      fc.property(plans, steps, ([small, large], program) => {
        const isWindow = large.kind === "fixed window";
        const perMs = Math.max(small.rate, large.rate) / PERIOD;
        // Idle time of a bucket is refilled by the config that reads next, also that before a take of the
        // other one.
        const most = capacityOf(large) + (isWindow ? 0 : capacityOf(small));
        let row: Row | null = null;
        let now = T;
        const taken: { at: number; count: number }[] = [];
        for (const { wait, isLarge, count } of program) {
          now += wait;
          const config = isLarge ? large : small;
          // As many as there are, so that nothing stays hidden.
          const left = capacityOf(config) - usedAt(row, config, now).used;
          const wanted = Math.min(count, Math.floor(left));
          const next: Row | undefined =
            wanted > 0 ? takeTokens(row, config, now, wanted, floorOf(config, false)) : undefined;
          if (next === undefined) continue;
          row = next;
          taken.push({ at: now, count: wanted });
          grants++;
        }
        for (const [i, { at }] of taken.entries()) {
          let sum = 0;
          for (const { at: later, count } of taken.slice(i)) {
            sum += count;
            const begun = Math.floor(later / PERIOD) - Math.floor(at / PERIOD);
            const refilled = isWindow ? begun * large.rate : (later - at) * perMs;
            // Each take of the smaller one gains less than a thousandth of a ms.
            expect(sum).toBeLessThanOrEqual(most + refilled + 1e-3);
          }
        }
      }),
      { numRuns: cases(20_000) },
    );
    expect(grants).toBeGreaterThan(cases(20_000));
  },
);
