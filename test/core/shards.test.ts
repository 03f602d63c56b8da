/** Two shards decide together, and all shards together are the limit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundUp } from "../../core/calculate.js";
import { heldAt } from "../../core/rows/reading.js";
import { type Bucket, capacityOf, shardConfig, toleranceOf } from "../../core/config.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { CLOSED, rowOfTokens } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { decideShardPair, fullestShards, sumShards } from "../../core/shards.js";
import { anyConfig, anyCount, anyNow, anyRow } from "./arbitraries.js";
import { cases } from "../support/cases.js";

const RUNS = { numRuns: cases(1000) };
const FEWER_RUNS = { numRuns: cases(500) };
const T = Date.UTC(2030, 0, 1);

type Pair = readonly [Row | null, Row | null];

const anySharded = anyConfig.chain((config) =>
  fc.integer({ min: 2, max: 1000 }).map((shards): RateLimitConfig => ({ ...config, shards })),
);

interface PairCall {
  config: RateLimitConfig;
  part: Bucket;
  pair: Pair;
  now: number;
  count: number;
  reserve: boolean;
}

const anyPairCall: fc.Arbitrary<PairCall> = fc
  .tuple(anySharded, anyNow, fc.boolean())
  .chain(([config, now, reserve]) => {
    const part = shardConfig(config);
    return fc.tuple(anyRow(part, now), anyRow(part, now)).chain((pair) =>
      fc.record({
        config: fc.constant(config),
        part: fc.constant(part),
        pair: fc.constant(pair),
        now: fc.constant(now),
        count: anyCount(config, heldBy(pair, part, now), reserve),
        reserve: fc.constant(reserve),
      }),
    );
  });

const heldBy = (pair: Pair, part: Bucket, now: number) =>
  shownAt(pair[0], part, now) + shownAt(pair[1], part, now);

function shownAt(row: Row | null, part: Bucket, now: number): number {
  return roundUp(heldAt(row, part, now).value, part);
}

const decide = ({ pair, part, now, count, reserve }: PairCall, ms = 0) =>
  decideShardPair(pair, part, now + ms, count, reserve);

describe("a call on two shards", () => {
  it("passes after retryAfter if it was denied, and not one ms earlier", () => {
    fc.assert(
      fc.property(anyPairCall, (call) => {
        const { result, next } = decide(call);
        fc.pre(!result.ok);
        expect(next).toEqual([undefined, undefined]);
        expect(result.retryAfter).toSatisfy(Number.isSafeInteger);
        expect(result.retryAfter).toBeGreaterThanOrEqual(1);
        expect(decide(call, result.retryAfter).result.ok).toBe(true);
        expect(decide(call, result.retryAfter - 1).result.ok).toBe(false);
      }),
      RUNS,
    );
  });

  it("takes exactly the count from the two together, and overfills neither", () => {
    fc.assert(
      fc.property(anyPairCall, (call) => {
        const { pair, part, now, count } = call;
        const { result, next } = decide(call);
        fc.pre(result.ok);
        const before = heldBy(pair, part, now);
        const after = heldBy([next[0] ?? pair[0], next[1] ?? pair[1]], part, now);
        // The rounding errors that `calculateRateLimit` leaves out, of two shards, and of the sum.
        const noise = 3e-9 * Math.max(1, count, Math.abs(before));
        expect(Math.abs(before - count - after)).toBeLessThanOrEqual(noise);
        for (const [shard, state] of next.entries()) {
          if (state === undefined) continue;
          expect(heldAt(state, part, state.ts).value).toBeLessThanOrEqual(capacityOf(part));
          expect(state.ts).toBeGreaterThanOrEqual(pair[shard]?.ts ?? -Infinity);
        }
      }),
      RUNS,
    );
  });

  it("owes at most maxReserved, and has repaid it after retryAfter", () => {
    fc.assert(
      fc.property(anyPairCall, (call) => {
        const { part, now } = call;
        const { result, next } = decide({ ...call, reserve: true });
        fc.pre(result.ok && result.retryAfter !== undefined);
        const { retryAfter } = result;
        expect(retryAfter).toSatisfy(Number.isSafeInteger);
        expect(retryAfter).toBeGreaterThanOrEqual(1);
        const owed = (ms: number) =>
          next.map((state) => (state ? shownAt(state, part, now + ms) : 0));
        expect(Math.min(...owed(retryAfter))).toBeGreaterThanOrEqual(0);
        expect(Math.min(...owed(retryAfter - 1))).toBeLessThan(0);
        const { maxReserved = Infinity } = part;
        for (const state of next) {
          const left = state ? heldAt(state, part, now).value : 0;
          // The last bit is that of the capacity and the debt together.
          const rounding = 2 ** -50 * (capacityOf(part) + maxReserved);
          expect(left).toBeGreaterThanOrEqual(-maxReserved - toleranceOf(part) - rounding);
        }
      }),
      RUNS,
    );
  });
});

describe("the two fullest shards", () => {
  const anyShards = anySharded.chain((config) => {
    const whole = config.kind === "fixed window" ? { ...config, start: T } : config;
    // The windows of a limit are the same for all of its shards.
    const align = (row: Row | null) =>
      row && whole.kind === "fixed window"
        ? { ...row, ts: T + Math.floor((row.ts - T) / Number(whole.period)) * Number(whole.period) }
        : row;
    const row = anyRow(shardConfig(whole), T).map(align);
    const rows = fc.array(row, { minLength: 2, maxLength: 5 });
    return fc.record({
      config: fc.constant(whole),
      rows,
      of: fc.double({ min: 0, max: 1, noNaN: true }),
    });
  });

  it("grant every count that another pair grants, at the same time or earlier", () => {
    fc.assert(
      fc.property(anyShards, ({ config, rows, of }) => {
        const part = shardConfig(config);
        const count = of * 2 * capacityOf(part);
        const wait = (pair: Pair) => {
          const { ok, retryAfter = 0 } = decideShardPair(pair, part, T, count).result;
          return ok ? 0 : retryAfter;
        };
        const waits = rows.flatMap((a, i) => rows.slice(i + 1).map((b) => wait([a, b])));
        const [first, second] = fullestShards(rows, config, T);
        const least = wait([rowOfTokens(part, first), rowOfTokens(part, second)]);
        expect(least === 0).toBe(waits.includes(0));
        // A row that was written by a clock that is ahead starts to refill later than the others.
        fc.pre(rows.every((row) => (row?.ts ?? T) <= T));
        expect(least).toBe(Math.min(...waits));
      }),
      RUNS,
    );
  });
});

describe("two shards of a limit of 6 per second", () => {
  const config: RateLimitConfig = { kind: "token bucket", rate: 6, period: 1000, shards: 3 };
  const part = shardConfig(config);
  /** The row of a shard of two tokens that has these left, or owes them. */
  const row = (value: number): Row => ({ used: value < 0 ? value : 2 - value, ts: T });

  it.each<[string, Pair, number, boolean, (Row | undefined)[], object]>([
    [
      "the fuller one pays",
      [row(1), row(2)],
      1,
      false,
      [undefined, row(1)],
      { ok: true, value: 1 },
    ],
    ["the first pays a tie", [null, null], 2, false, [row(0), undefined], { ok: true, value: 0 }],
    ["both pay together", [row(1), row(2)], 2.5, false, [row(0.25), row(0.25)], { ok: true }],
    ["a debt counts", [row(2), row(-1)], 2, false, [row(0), undefined], { ok: true }],
    [
      "neither is charged",
      [row(0), row(1)],
      2,
      false,
      [undefined, undefined],
      { ok: false, value: 1 },
    ],
    ["tokens come before debts", [row(1), row(2)], 3, true, [row(0), row(0)], { ok: true }],
    ["the fuller one owes", [row(0), row(1)], 2, true, [undefined, row(-1)], { retryAfter: 500 }],
  ])("%s", (_title, pair, count, reserve, next, result) => {
    const decision = decideShardPair(pair, part, T, count, reserve);
    expect(decision.next).toEqual(next);
    expect(decision.result).toMatchObject(result);
  });

  it("waits until one shard, or both together, have enough", () => {
    const wait = (pair: Pair, count: number) => decideShardPair(pair, part, T, count).result;
    expect(wait([row(0), row(1)], 2)).toEqual({ ok: false, retryAfter: 250, value: 1 });
    expect(wait([row(-5), row(1)], 2)).toEqual({ ok: false, retryAfter: 500, value: -4 });
  });
});

describe("two shards that a provider has closed", () => {
  const window: RateLimitConfig = { kind: "fixed window", rate: 6, period: 1000, start: 0 };
  const part = shardConfig({ ...window, shards: 3 });
  const closed = { used: CLOSED, ts: T + 3000 };

  it.each([
    [0, false],
    [1, false],
    [3, true],
  ])("grant and reserve nothing until they open: %d, reserved %s", (count, reserve) => {
    const { result, next } = decideShardPair([closed, closed], part, T, count, reserve);
    expect(result).toMatchObject({ ok: false, value: 0 });
    expect(next).toEqual([undefined, undefined]);
  });

  it("show no tokens until then", () => {
    const rows = [closed, closed, closed];
    const config = { ...window, shards: 3 };
    expect(sumShards(rows, config, T).value).toBe(0);
    expect(sumShards(rows, config, T + 2999).value).toBe(0);
    expect(sumShards(rows, config, T + 3000).value).toBe(6);
  });
});

it("sums what open shards have now, while others are closed", () => {
  const part: Bucket = { kind: "token bucket", rate: 40, period: 60_000, shards: 4 };
  const rows = [
    { used: CLOSED, ts: T + 3_600_000 },
    { used: 10, ts: T },
    { used: 10, ts: T },
    { used: 7, ts: T },
  ];
  expect(sumShards(rows, part, T)).toMatchObject({ value: 3, ts: T });
  expect(sumShards(rows, part, T + 6000)).toMatchObject({ value: 6, ts: T + 6000 });
});

describe("sumShards", () => {
  const config: RateLimitConfig = { kind: "token bucket", rate: 6, period: 1000, shards: 3 };

  it("adds up the tokens of all shards, and counts missing rows as full", () => {
    const states = [{ used: -1, ts: T }, { used: 1, ts: T - 500 }, null];
    expect(sumShards(states, config, T)).toEqual({ value: -1 + 2 + 2, ts: T, used: 3 });
  });

  it("gives the sum at the latest ts of any shard", () => {
    const states = [
      { used: 2, ts: T + 250 },
      { used: 2, ts: T },
      { used: 2, ts: T },
    ];
    // At 250 ms, the other two have half a token each.
    expect(sumShards(states, config, T)).toEqual({ value: 1, ts: T + 250, used: 5 });
  });

  it("owes what its shards owe together", () => {
    const states = [{ used: -5, ts: T }, { used: 1, ts: T }, null];
    expect(sumShards(states, config, T)).toEqual({ value: -2, ts: T, used: -2 });
  });

  it("does not change the state of a limit without shards", () => {
    const { shards: _, ...whole } = config;
    expect(sumShards([{ used: 1, ts: T }], whole, T)).toEqual({ value: 5, ts: T, used: 1 });
  });

  it("never holds more than the limit's capacity", () => {
    fc.assert(
      fc.property(
        anySharded.chain((of) =>
          anyNow.chain((now) =>
            fc.tuple(
              fc.constant(of),
              fc.constant(now),
              fc.array(anyRow(shardConfig(of), now), { minLength: 1 }),
            ),
          ),
        ),
        ([of, now, rows]) => {
          const { shards = 1 } = of;
          const states = Array.from({ length: shards }, (_, shard) => rows[shard] ?? null);
          const { value, ts } = sumShards(states, of, now);
          expect(value).toBeLessThanOrEqual(capacityOf(of) * (1 + 1e-9));
          if (of.kind === "token bucket") expect(ts).toBeGreaterThanOrEqual(now);
          for (const state of states) expect(ts).toBeGreaterThanOrEqual(state?.ts ?? -Infinity);
        },
      ),
      FEWER_RUNS,
    );
  });
});
