/** The promise of a limit: in any span of time it grants at most its capacity plus its refill. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heldAt, usedAt } from "../../core/rows/reading.js";
import { capacityOf, type PeriodicConfig, shardConfig } from "../../core/config.js";
import { validateSatisfiable } from "../../core/count.js";
import { decideRateLimit } from "../../core/decide.js";
import type { Row } from "../../core/rows/row.js";
import { decideShardPair } from "../../core/shards.js";
import { anyConfig, anyNow, anyRow, between, throws } from "../core/arbitraries.js";
import { cases } from "../support/cases.js";

const RUNS = { numRuns: cases(2000) };

interface Schedule {
  config: PeriodicConfig;
  existing: Row | null;
  calls: { now: number; count: number }[];
}

/** A call, and the latest time that any clock had shown by then. */
interface Grant {
  latest: number;
  count: number;
}

/** Calls at random times. They are so close that the refill between them matters. */
const schedules = (config: PeriodicConfig, clockStepsBack: boolean): fc.Arbitrary<Schedule> => {
  const least = clockStepsBack ? -1 : 0;
  const full = (config.period * capacityOf(config)) / config.rate;
  const step = fc.record({
    ms: fc.oneof(
      between(least * full, full),
      between(least, 2).map((n) => n * config.period),
    ),
    count: fc.oneof(
      fc.constantFrom(0, 1, config.rate, capacityOf(config)),
      between(0, capacityOf(config)),
    ),
  });
  return anyNow.chain((begin) =>
    fc.record({
      config: fc.constant(config),
      existing: anyRow(config, begin),
      calls: fc.array(step, { minLength: 2, maxLength: 30 }).map((steps) => {
        let now = begin;
        return steps
          .map(({ ms, count }) => ({ now: (now += Math.round(ms)), count }))
          .filter(({ count }) => !throws(() => validateSatisfiable("", config, count, false)));
      }),
    }),
  );
};

const anySchedule = anyConfig.chain((config) => schedules(config, true));

/** Replays a schedule on a row. Only granted calls write. */
function replay({ config, existing, calls }: Schedule, reserve: boolean): Grant[] {
  let row = existing;
  let latest = existing?.ts ?? -Infinity;
  return calls.map(({ now, count }) => {
    latest = Math.max(latest, now);
    const { result, next } = decideRateLimit(row, config, now, count, reserve);
    row = next ?? row;
    return { latest, count: result.ok ? count : 0 };
  });
}

/** Checks every span between two calls. `phase` is an instant at which a window starts. */
function expectNoExcess(grants: Grant[], config: PeriodicConfig, phase: number, owed = 0) {
  const periods = (from: number, to: number) =>
    config.kind === "token bucket"
      ? (to - from) / config.period
      : Math.floor((to - phase) / config.period) - Math.floor((from - phase) / config.period);
  for (const [i, { latest: from }] of grants.entries()) {
    let granted = 0;
    for (const { latest, count } of grants.slice(i)) {
      granted += count;
      const allowed = capacityOf(config) + owed + config.rate * periods(from, latest);
      if (granted > allowed * (1 + 1e-6)) {
        expect.fail(`granted ${granted} between ${from} and ${latest}, allowed ${allowed}`);
      }
    }
  }
}

const phaseOf = ({ config, existing, calls }: Schedule) =>
  (existing ?? usedAt(null, config, calls[0]?.now ?? 0)).ts;

describe("the grants of any span", () => {
  it("never exceed capacity plus refill, even if clocks step back", () => {
    fc.assert(
      fc.property(anySchedule, (schedule) => {
        expectNoExcess(replay(schedule, false), schedule.config, phaseOf(schedule));
      }),
      RUNS,
    );
  });

  it("exceed capacity plus refill by at most maxReserved with reservations", () => {
    fc.assert(
      fc.property(anySchedule, (schedule) => {
        const { maxReserved = Infinity } = schedule.config;
        fc.pre(maxReserved < Infinity);
        const grants = replay(schedule, true);
        expectNoExcess(grants, schedule.config, phaseOf(schedule), maxReserved);
      }),
      RUNS,
    );
  });

  it("never exceed the capacity plus refill of a limit with two shards", () => {
    const anyTwoShards = anyConfig
      .filter(({ kind }) => kind === "token bucket")
      .chain((config) => schedules({ ...config, shards: 2 }, false));
    fc.assert(
      fc.property(anyTwoShards, ({ config, calls }) => {
        const rows: [Row | null, Row | null] = [null, null];
        const grants = calls.map(({ now, count }) => {
          const { result, next } = decideShardPair(rows, shardConfig(config), now, count);
          next.forEach((state, shard) => (rows[shard] = state ?? rows[shard] ?? null));
          return { latest: now, count: result.ok ? count : 0 };
        });
        expectNoExcess(grants, config, 0);
      }),
      { numRuns: cases(1000) },
    );
  });
});

describe("the row of any schedule", () => {
  it("never goes back in time and never holds more than the capacity", () => {
    fc.assert(
      fc.property(anySchedule, fc.boolean(), ({ config, existing, calls }, reserve) => {
        let row = existing;
        for (const { now, count } of calls) {
          const { next } = decideRateLimit(row, config, now, count, reserve);
          if (next === undefined) continue;
          expect(next.ts).toBeGreaterThanOrEqual(row?.ts ?? -Infinity);
          expect(heldAt(next, config, now).value).toBeLessThanOrEqual(capacityOf(config));
          row = next;
        }
      }),
      { numRuns: cases(1000) },
    );
  });
});
