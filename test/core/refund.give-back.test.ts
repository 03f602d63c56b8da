/**
 * The promise of a limit holds where tokens are given back, too: in any span of time, the calls that
 * kept their tokens got at most the capacity plus the refill. Calls count at the instant at which
 * their work may be done, which is later for reservations.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heldAt } from "../../core/rows/reading.js";
import { chargeRows } from "../../core/charge.js";
import { capacityOf, type PeriodicConfig } from "../../core/config.js";
import { decideRateLimit } from "../../core/decide.js";
import { refundTaken, type TakenTokens } from "../../core/refund.js";
import type { Row } from "../../core/rows/row.js";
import { cases } from "../support/cases.js";

const T = Date.UTC(2030, 0, 1);
const bucket: PeriodicConfig = { kind: "token bucket", rate: 10, period: 1000, capacity: 2 };
const window: PeriodicConfig = { kind: "fixed window", rate: 2, period: 1000, start: 0 };

/** A limit in memory. `take` returns what `back` needs to give the tokens back. */
function createRow(config: PeriodicConfig, row: Row | null = null) {
  return {
    take(ms: number, count: number, reserve = false) {
      const { result, next } = decideRateLimit(row, config, T + ms, count, reserve);
      if (next === undefined) return undefined;
      row = next;
      return { ...next, count, readyAt: ms + (result.retryAfter ?? 0) };
    },
    charge(ms: number, count: number): void {
      row = chargeRows([row], config, T + ms, count).next[0]!;
    },
    left: (ms: number) => heldAt(row, config, T + ms).value,
    back(ms: number, taken: TakenTokens): number {
      const { next, rest } = refundTaken([row], config, T + ms, taken.count, [taken]);
      row = next[0] ?? row;
      return taken.count - rest;
    },
  };
}

describe("tokens that are given back", () => {
  it("come back whole in the same window", () => {
    const row = createRow(window);
    const taken = row.take(100, 1)!;
    row.take(200, 1);
    expect(row.back(900, taken)).toBe(1);
    expect(row.take(950, 1)).toBeDefined();
  });

  it("do not come back in a window that has replaced them", () => {
    const row = createRow(window);
    const taken = row.take(900, 1)!;
    row.take(1100, 2);
    expect(row.back(1200, taken)).toBe(0);
    expect(row.take(1200, 1)).toBeUndefined();
  });

  it("come back but for what was refilled meanwhile", () => {
    const row = createRow(bucket);
    const taken = row.take(0, 2)!;
    expect(row.back(50, taken)).toBe(1.5);
  });

  it("come back whole while a bucket is in debt, if no other call has reserved since", () => {
    const row = createRow(bucket, { used: 2, ts: T });
    const taken = row.take(0, 2, true)!;
    expect(row.back(0, taken)).toBe(2);
  });

  it("do not come back where a later reservation relies on them", () => {
    const row = createRow(bucket, { used: 2, ts: T });
    const first = row.take(0, 2, true)!;
    expect(row.take(0, 2, true)).toMatchObject({ readyAt: 400 });
    expect(row.back(0, first)).toBe(0);
    expect(row.take(0, 2, true)).toMatchObject({ readyAt: 600 });
  });

  it("do not come back while a reservation waits that another giving back could hide", () => {
    const row = createRow({ ...bucket, rate: 2, period: 12, capacity: 4 });
    const first = row.take(0, 2)!;
    const second = row.take(0, 4, true)!;
    expect(row.take(0, 1, true)).toMatchObject({ readyAt: 18 });
    expect(row.back(0, second)).toBe(0);
    expect(row.back(0, first)).toBe(0);
    expect(row.take(18, 1)).toBeUndefined();
  });

  it("do not come back where a refill hides a later reservation", () => {
    const row = createRow({ ...bucket, capacity: 4 }, { used: 4, ts: T });
    const first = row.take(0, 3, true)!;
    // One token was refilled and reserved again, so the debt is as it was.
    expect(row.take(100, 1, true)).toBeDefined();
    expect(row.back(100, first)).toBe(0);
  });

  it("do not come back where a later reservation has the part that came back before", () => {
    const row = createRow({ ...bucket, capacity: 4 }, { used: 4, ts: T });
    const first = row.take(0, 3, true)!;
    expect(row.back(0, { ...first, count: 1 })).toBe(1);
    expect(row.take(0, 1, true)).toBeDefined();
    expect(row.back(0, { ...first, refunded: 1 })).toBe(0);
  });

  it("come back from the end of a line, one call after the other", () => {
    const row = createRow(bucket, { used: 2, ts: T });
    const first = row.take(0, 2, true)!;
    const second = row.take(0, 2, true)!;
    expect(row.back(0, second)).toBe(2);
    expect(row.back(0, first)).toBe(2);
    expect(row.take(0, 2, true)).toMatchObject({ readyAt: 200 });
  });

  it("come back whole from a part to the next, though others have taken since", () => {
    const row = createRow({ ...bucket, capacity: 10 });
    const taken = row.take(0, 10)!;
    expect(row.back(0, { ...taken, count: 4 })).toBe(4);
    expect(row.take(0, 4)).toBeDefined();
    expect(row.back(0, { ...taken, refunded: 4 })).toBe(6);
  });

  it("are bounded also where another call has given back before", () => {
    const row = createRow(bucket);
    const first = row.take(0, 1)!;
    const second = row.take(0, 1)!;
    expect(row.back(0, first)).toBe(1);
    expect(row.take(100, 2)).toBeDefined();
    expect(row.back(100, second)).toBe(0);
    expect(row.take(100, 1)).toBeUndefined();
  });
});

interface Step {
  ms: number;
  count: number;
  reserve: boolean;
  /** Chooses one of the calls whose tokens can be given back, instead of a new call. */
  back: number | undefined;
}

interface Schedule {
  config: PeriodicConfig;
  steps: Step[];
}

const anySchedule = (kind: PeriodicConfig["kind"], reserve: fc.Arbitrary<boolean>) =>
  fc
    .record({
      rate: fc.integer({ min: 1, max: 4 }),
      burst: fc.integer({ min: 0, max: 4 }),
      maxReserved: fc.integer({ min: 0, max: 8 }),
    })
    .chain(({ rate, burst, maxReserved }): fc.Arbitrary<Schedule> => {
      const capacity = rate + burst;
      const common = { rate, period: 12, capacity, maxReserved };
      const config: PeriodicConfig =
        kind === "token bucket" ? { kind, ...common } : { kind, ...common, start: 0 };
      const step = fc.record({
        ms: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 14 })),
        // Reservations of several windows' tokens share an instant, with or without giving back.
        count: kind === "token bucket" ? fc.integer({ min: 1, max: capacity }) : fc.constant(1),
        reserve,
        back: fc.option(fc.nat(), { freq: 2, nil: undefined }),
      });
      return fc.record({
        config: fc.constant(config),
        steps: fc.array(step, { minLength: 4, maxLength: 40 }),
      });
    });

interface KeptCall {
  readyAt: number;
  count: number;
}

/** Replays a schedule, then takes what is left. Returns the calls that kept their tokens. */
function replay({ config, steps }: Schedule): KeptCall[] {
  const row = createRow(config);
  const calls: (TakenTokens & KeptCall & { takenAt: number })[] = [];
  let now = 0;
  for (const { ms, count, reserve, back } of steps) {
    now += ms;
    if (back === undefined) {
      const taken = row.take(now, count, reserve);
      if (taken !== undefined) calls.push({ ...taken, takenAt: now });
      continue;
    }
    // Work that has begun late can be aborted until its turn; other work can fail at any time.
    const open = calls.filter(({ readyAt, takenAt }) => readyAt === takenAt || now < readyAt);
    if (open.length === 0) continue;
    const given = open[back % open.length]!;
    calls.splice(calls.indexOf(given), 1);
    row.back(now, given);
  }
  const kept: KeptCall[] = [...calls];
  for (let last; (last = row.take(now, 1)) !== undefined;) kept.push(last);
  return kept;
}

function expectNoExcess(kept: readonly KeptCall[], { config }: Schedule) {
  const periods = (ms: number) =>
    config.kind === "token bucket" ? ms / config.period : Math.floor((T + ms) / config.period);
  for (const { readyAt: from } of kept) {
    for (const { readyAt: to } of kept) {
      if (to < from) continue;
      const inSpan = kept.filter(({ readyAt }) => from <= readyAt && readyAt <= to);
      const granted = inSpan.reduce((sum, { count }) => sum + count, 0);
      // A reservation's turn is rounded up to a whole ms, so two turns may be a ms too close.
      const slack = config.kind === "token bucket" ? config.rate / config.period : 0;
      const allowed = capacityOf(config) + config.rate * (periods(to) - periods(from)) + slack;
      if (granted > allowed + 1e-6) expect.fail(`${granted} from ${from} to ${to}, not ${allowed}`);
    }
  }
}

describe("the calls that keep their tokens", () => {
  it.each([
    ["token bucket", "", fc.constant(false)],
    ["fixed window", "", fc.constant(false)],
    ["token bucket", " where reservations are aborted", fc.boolean()],
    ["fixed window", " where reservations are aborted", fc.boolean()],
  ] as const)("of a %s never exceed capacity plus refill%s", (kind, _, reserve) => {
    fc.assert(
      fc.property(anySchedule(kind, reserve), (schedule) => {
        expectNoExcess(replay(schedule), schedule);
      }),
      { numRuns: cases(5000) },
    );
  });
});

/** Charges make a debt that nobody waits for, where nothing can be reserved. */
describe("of a limit without reservations, tokens", () => {
  const unreserved: PeriodicConfig = { ...bucket, rate: 1, capacity: 10, maxReserved: 0 };

  it("come back to a bucket that others have overdrawn", () => {
    const row = createRow(unreserved);
    const taken = row.take(0, 4)!;
    row.charge(0, 9);
    expect(row.back(0, taken)).toBe(4);
    expect(row.take(0, 1)).toBeDefined();
    expect(row.take(0, 1)).toBeUndefined();
  });

  it("come back up to what the bucket would hold had they never been taken", () => {
    const step = fc.record({
      ms: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })),
      count: fc.integer({ min: 1, max: 10 }),
      isCharge: fc.boolean(),
    });
    const schedule = fc.record({
      kind: fc.constantFrom("token bucket", "fixed window"),
      taken: fc.integer({ min: 1, max: 10 }),
      steps: fc.array(step, { maxLength: 12 }),
    });
    fc.assert(
      fc.property(schedule, ({ kind, taken: count, steps }) => {
        const config = { ...unreserved, kind, ...(kind === "fixed window" && { start: 0 }) };
        const row = createRow(config as PeriodicConfig);
        const without = createRow(config as PeriodicConfig);
        const taken = row.take(0, count)!;
        let now = 0;
        for (const { ms, count: next, isCharge } of steps) {
          now += ms;
          if (!isCharge && row.take(now, next) === undefined) continue;
          if (isCharge) row.charge(now, next);
          without.charge(now, next);
        }
        row.back(now, taken);
        expect(row.left(now)).toBeLessThanOrEqual(without.left(now) + 1e-9);
      }),
      { numRuns: cases(1000) },
    );
  });
});
