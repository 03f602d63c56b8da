/**
 * Tests of decisions that only take tokens from one row. A SQL store takes such tokens inside one
 * statement. The store's answers and rows have to equal those that `core` calculates, to the last bit.
 */
import type { Row } from "../../core/rows/row.js";
import { floorOf, type PeriodicConfig } from "../../core/config.js";
import { decideRateLimit, grantOf, type RateLimitResult, takeTokens } from "../../core/decide.js";
import { CLOSED } from "../../core/rows/bucket.js";
import type { Decision, RowId } from "../../server/store/store.js";
import type { StoreUnderTest } from "../store-under-test.js";
import type { TestDefiner } from "../test-runner.js";
import { read, row, times, write } from "./decisions.js";

const NOW = Date.UTC(2030, 0, 1);
const START = NOW - 12_345;
/** One function for all calls, as in a limiter: calls share a statement only if they share the clock. */
const clock = () => NOW;

const CONFIGS: readonly PeriodicConfig[] = [
  { kind: "token bucket", rate: 10, period: 60_000 },
  { kind: "token bucket", rate: 1 / 3, period: 7, capacity: 5.5 },
  { kind: "token bucket", rate: 1e6, period: 31_536_000_000, capacity: 3 },
  { kind: "fixed window", rate: 10, period: 1000, start: START },
  { kind: "fixed window", rate: 0.1, period: 60_000, capacity: 2.3, start: START },
];
/**
 * The `used` of rows. Some configs have a smaller capacity than 4 or 1e6: a larger config has used these
 * tokens. A number below 0 is a debt.
 */
const USED = [0, 0.1 + 0.2, -1 / 3, 1, 2.3, 1e-9, 4, 1e6, -7, CLOSED];
/** How old the rows are, ms. The row with -500 is of a server with a clock that is ahead. */
const AGES = [0, 1, 999.5, 86_400_000, -500];
const COUNTS = [1, 0.1, 1 / 3];

interface Case {
  config: PeriodicConfig;
  state: Row;
  count: number;
  /** Whether tokens may be owed. */
  reserve: boolean;
}

const CASES: readonly Case[] = CONFIGS.flatMap((config) =>
  USED.flatMap((used, i) =>
    AGES.flatMap((age, j) =>
      [false, true].map((reserve) => ({
        config,
        state: { used, ts: NOW - age },
        count: COUNTS[(i + j) % COUNTS.length]!,
        reserve,
      })),
    ),
  ),
);

/** The decision that the limiter applies for a call of `limit`. */
function limit(
  id: RowId,
  config: PeriodicConfig,
  count: number,
  reserve = false,
): Decision<RateLimitResult> {
  return {
    rows: [id],
    plain: {
      config,
      count,
      floor: floorOf(config, reserve),
      clock,
      granted: (next, later, now) => grantOf(next, config, now, later),
    },
    decide([state]) {
      const { result, next } = decideRateLimit(state ?? null, config, NOW, count, reserve);
      return { result, writes: next && [next] };
    },
  };
}

/** The decision that the limiter applies for the block of a lease. */
function block(id: RowId, config: PeriodicConfig, count: number, least: number): Decision<boolean> {
  const floor = floorOf(config, false);
  return {
    rows: [id],
    plain: { config, count, floor, least, clock, granted: () => true },
    decide([state = null]) {
      const next = takeTokens(state, config, NOW, count, floor, least);
      return { result: next !== undefined, writes: next && [next] };
    },
  };
}

export function testTakes({ it, expect }: TestDefiner, opened: () => StoreUnderTest): void {
  const expected = ({ config, state, count, reserve }: Case) => {
    const { result, next } = decideRateLimit(state, config, NOW, count, reserve);
    return { result, state: next ?? state };
  };

  it("takes tokens exactly as they are calculated, from many rows at once", async () => {
    const { store } = opened();
    await store.apply(CASES.map(({ state }, i) => write(row(`${i}`), state)));
    const results = await store.apply(
      CASES.map(({ config, count, reserve }, i) => limit(row(`${i}`), config, count, reserve)),
    );
    const states = await Promise.all(CASES.map((_, i) => read(store, row(`${i}`))));
    for (const [i, each] of CASES.entries()) {
      expect({ each, result: results[i], state: states[i] }).toEqual({ each, ...expected(each) });
    }
  });

  it("takes tokens exactly as they are calculated, from one row at a time", async () => {
    const { store } = opened();
    await store.apply(CASES.map(({ state }, i) => write(row(`${i}`), state)));
    for (const [i, each] of CASES.entries()) {
      if (i % 7 > 0) continue;
      const id = row(`${i}`);
      const [result] = await store.apply([limit(id, each.config, each.count, each.reserve)]);
      expect({ each, result, state: await read(store, id) }).toEqual({ each, ...expected(each) });
    }
  });

  it("grants exactly 37 of 200 simultaneous takes from a bucket of 37 tokens, also in two stores", async () => {
    const { store, peer } = opened();
    const stores = [store, peer ?? store];
    const config: PeriodicConfig = { kind: "token bucket", rate: 37, period: 60_000 };
    const results = await Promise.all(
      times(200, (i) => stores[i % 2]!.apply([limit(row("hot"), config, 1)])),
    );
    expect(results.flat().filter(({ ok }) => ok).length).toBe(37);
    expect(await read(store, row("hot"))).toEqual({ used: 37, ts: NOW });
  });

  it("takes from new rows and from rows that exist in one call, and nothing for a denied one", async () => {
    const { store } = opened();
    const config: PeriodicConfig = { kind: "fixed window", rate: 2, period: 1000, start: START };
    const full = decideRateLimit(null, config, NOW, 0).next!;
    const empty = { ...full, used: 1.5 };
    await store.apply([write(row("empty"), empty)]);
    const keys = ["new", "empty", "new", "other"];
    const results = await store.apply(keys.map((key) => limit(row(key), config, 1)));
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true]);
    expect(await read(store, row("new"))).toEqual({ ...full, used: 2 });
    expect(await read(store, row("empty"))).toEqual(empty);
    expect(await read(store, row("other"))).toEqual({ ...full, used: 1 });
  });

  it("counts as used at least what a take says, of rows that exist and of new ones", async () => {
    const { store } = opened();
    const config: PeriodicConfig = { kind: "token bucket", rate: 10, period: 60_000 };
    const states = [
      null,
      ...[0, 0.1, 3, 6, -1, 40, CLOSED].map((used) => ({ used, ts: NOW - 999 })),
    ];
    const rows = states.map((_, i) => row(`${i}`));
    for (const least of [2.5, 1 / 3]) {
      await store.apply(rows.map((id, i) => write(id, states[i]!)));
      // One decision alone, and the others together.
      const [alone, ...others] = rows.map((id) => block(id, config, 3, least));
      await store.apply([alone!]);
      await store.apply(others);
      const next = await Promise.all(rows.map((id) => read(store, id)));
      const floor = floorOf(config, false);
      expect(next).toEqual(
        states.map((state) => takeTokens(state, config, NOW, 3, floor, least) ?? state),
      );
    }
  });

  it("takes another fraction from each shard of a key in one call", async () => {
    const { store } = opened();
    const config: PeriodicConfig = { kind: "token bucket", rate: 10, period: 60_000 };
    const rows = ["a", "b", "__proto__", "0 a"].flatMap((key) =>
      times(3, (shard) => row(key, shard)),
    );
    const counts = rows.map((_, i) => (i + 1) / 7);
    for (const state of [null, decideRateLimit(null, config, NOW, 0.1).next!]) {
      await store.apply(rows.map((id) => write(id, state)));
      const results = await store.apply(rows.map((id, i) => limit(id, config, counts[i]!)));
      const states = await Promise.all(rows.map((id) => read(store, id)));
      const expectedAll = counts.map((count) => decideRateLimit(state, config, NOW, count));
      expect(results).toEqual(expectedAll.map(({ result }) => result));
      expect(states).toEqual(expectedAll.map(({ next }) => next));
    }
  });
}
