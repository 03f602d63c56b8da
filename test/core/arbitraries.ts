/**
 * Valid configs, rows and calls for the properties. The generators favour the numbers at which limiters
 * fail: thirds and millionths, periods of a millisecond and of ten years, full and empty rows, rows with
 * a debt, rows written by a clock that is ahead, and counts that are just too large.
 */
import type { Bucket } from "../../core/config.js";
import fc from "fast-check";
import { heldAt } from "../../core/rows/reading.js";
import { capacityOf, type PeriodicConfig, reservableOf, longestPeriod } from "../../core/config.js";

import { mostSatisfiable, validateSatisfiable } from "../../core/count.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";
import { rowOfTokens } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { validateConfig } from "../../core/validate-config.js";

const DECADE = 3652 * DAY;

export interface Call {
  config: PeriodicConfig;
  existing: Row | null;
  now: number;
  count: number;
  reserve: boolean;
}

/** Even over a range. The doubles of fast-check favour the numbers next to zero. */
export const between = (low: number, high: number) =>
  fc.integer({ min: 0, max: 1000 }).map((part) => low + ((high - low) * part) / 1000);

/** A part of `most`, down to a millionth of it, because real counts are not smaller. */
const partOf = (most: number) =>
  fc.double({ min: 1e-6, max: 1, noNaN: true }).map((part) => part * most);

/** Numbers of tokens, some of them relative to a rate. */
const tokens = (rate: number) =>
  fc.oneof(
    fc.constantFrom(0, rate / 2, rate, rate * 2, rate * 10),
    partOf(rate * 100),
    fc.integer({ min: 0, max: 1000 }),
  );

const anyRate = fc.oneof(
  fc.constantFrom(1e-6, 0.1, 1 / 7, 1 / 3, 1, 3, 10, 40_000),
  fc.double({ min: 1e-6, max: 1e5, noNaN: true }),
);

const anyPeriod = fc.oneof(
  fc.constantFrom(1, 7, SECOND, MINUTE, HOUR, DAY, DECADE),
  fc.integer({ min: 1, max: DECADE }),
);

/** A valid config of either kind without shards. Each option of its kind is present or absent. */
export const anyConfig: fc.Arbitrary<PeriodicConfig> = fc
  .tuple(anyRate, anyPeriod)
  .chain(([rate, period]) => {
    const common = {
      rate: fc.constant(rate),
      period: fc.constant(period),
      capacity: tokens(rate),
      maxReserved: tokens(rate),
    };
    return fc.oneof(
      fc.record(
        { kind: fc.constant("token bucket" as const), ...common },
        { requiredKeys: ["kind", "rate", "period"] },
      ),
      fc.record(
        {
          kind: fc.constant("fixed window" as const),
          ...common,
          start: fc.oneof(fc.constant(0), fc.integer({ min: -DECADE, max: 10 * DECADE })),
        },
        { requiredKeys: ["kind", "rate", "period"] },
      ),
    );
  })
  .filter((config) => !throws(() => validateConfig(config)));

/** Half a millisecond too, because a browser corrects its clock by half a round trip. */
export const anyNow = fc
  .tuple(fc.integer({ min: Date.UTC(2020), max: Date.UTC(2060) }), fc.constantFrom(0, 0, 0, 0.5))
  .map(([whole, part]) => whole + part);

/**
 * No row, or one that calls with this config can have written, by clocks before and after `now`.
 */
export function anyRow(config: Bucket, now: number): fc.Arbitrary<Row | null> {
  const capacity = capacityOf(config);
  const reservable = reservableOf(config);
  const debt = Math.min(reservable, 10 * (capacity + config.rate));
  const value = fc.oneof(
    fc.constantFrom(capacity, 0, -debt, -reservable),
    between(-debt, capacity),
    partOf(capacity),
    partOf(-debt),
  );
  const behind = fc.oneof(
    fc.constantFrom(0, longestPeriod(config), -longestPeriod(config)),
    fc.integer({ min: -10, max: 10 }),
    fc.integer({ min: -longestPeriod(config), max: 3 * longestPeriod(config) }),
    fc.integer({ min: -DECADE, max: DECADE }),
  );
  const state = fc.record({ value, ts: behind.map((ms) => now - ms) });
  return fc.option(
    state.map((each) => rowOfTokens(config, each)),
    { freq: 8 },
  );
}

/** A count that some wait would satisfy. */
export function anyCount(config: Bucket, held: number, reserve: boolean): fc.Arbitrary<number> {
  const most = mostSatisfiable(config, reserve);
  const capacity = capacityOf(config);
  return fc
    .oneof(
      fc.constantFrom(0, 1, 1 / 3, capacity, most, held, held + 1e-9, held + config.rate),
      between(0, capacity),
      between(Math.max(0, held), Math.max(0, held) + config.rate),
      between(0, most),
      partOf(most),
    )
    .filter((count) => !throws(() => validateSatisfiable("limit", config, count, reserve)));
}

/** A call that some wait would satisfy. */
export const anyCall: fc.Arbitrary<Call> = fc
  .tuple(anyConfig, anyNow, fc.boolean())
  .chain(([config, now, reserve]) =>
    anyRow(config, now).chain((existing) => {
      const held = heldAt(existing, config, now).value;
      return fc.record({
        config: fc.constant(config),
        existing: fc.constant(existing),
        now: fc.constant(now),
        count: anyCount(config, held, reserve),
        reserve: fc.constant(reserve),
      });
    }),
  );

export function throws(run: () => void): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}
