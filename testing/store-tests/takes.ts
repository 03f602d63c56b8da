/**
 * Decisions that only take tokens from one row. A SQL store takes them inside one statement. Its
 * answers and its rows have to be those that `core` calculates, to the last bit.
 */
import type { RateLimitState } from "../../core/calculate.js";
import { floorOf, type PeriodicConfig } from "../../core/config.js";
import { decideRateLimit, grantOf, type RateLimitResult } from "../../core/decide.js";
import type { Decision, RowId } from "../../server/store/store.js";
import type { StoreUnderTest } from "../store-under-test.js";
import type { TestRunner } from "../test-runner.js";
import { read, row, times, write } from "./decisions.js";

const NOW = Date.UTC(2030, 0, 1);
const START = NOW - 12_345;
/** One function for all calls, as in a limiter: calls share a statement only if they share it. */
const clock = () => NOW;

const CONFIGS: readonly PeriodicConfig[] = [
  { kind: "token bucket", rate: 10, period: 60_000 },
  { kind: "token bucket", rate: 1 / 3, period: 7, capacity: 5.5 },
  { kind: "token bucket", rate: 1e6, period: 31_536_000_000, capacity: 3 },
  { kind: "fixed window", rate: 10, period: 1000, start: START },
  { kind: "fixed window", rate: 0.1, period: 60_000, capacity: 2.3, start: START },
];
const VALUES = [0, 0.1 + 0.2, -1 / 3, 1, 2.3, 1e-9];
/** How old the rows are, ms. The last one is of a server whose clock is ahead. */
const AGES = [0, 1, 999.5, 86_400_000, -500];
const COUNTS = [1, 0.1, 1 / 3];

interface Case {
  config: PeriodicConfig;
  state: RateLimitState;
  count: number;
}

const CASES: readonly Case[] = CONFIGS.flatMap((config) =>
  VALUES.flatMap((value, i) =>
    AGES.map((age, j) => ({
      config,
      state: { value, ts: NOW - age },
      count: COUNTS[(i + j) % COUNTS.length]!,
    })),
  ),
);

/** What the limiter applies for a call of `limit`. */
function limit(id: RowId, config: PeriodicConfig, count: number): Decision<RateLimitResult> {
  return {
    rows: [id],
    plain: {
      config,
      count,
      floor: floorOf(config, false),
      clock,
      granted: (next, later, now) => grantOf(next, config, now, later),
    },
    decide([state]) {
      const { result, next } = decideRateLimit(state ?? null, config, NOW, count);
      return { result, writes: next && [next] };
    },
  };
}

export function testTakes({ it, expect }: TestRunner, opened: () => StoreUnderTest): void {
  const expected = ({ config, state, count }: Case) => {
    const { result, next } = decideRateLimit(state, config, NOW, count);
    return { result, state: next ?? state };
  };

  it("takes tokens exactly as they are calculated, from many rows at once", async () => {
    const { store } = opened();
    await store.apply(CASES.map(({ state }, i) => write(row(`${i}`), state)));
    const results = await store.apply(
      CASES.map(({ config, count }, i) => limit(row(`${i}`), config, count)),
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
      if (i % 3 > 0) continue;
      const id = row(`${i}`);
      const [result] = await store.apply([limit(id, each.config, each.count)]);
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
    expect(await read(store, row("hot"))).toEqual({ value: 0, ts: NOW });
  });

  it("takes from new rows and from rows that exist in one call, and nothing for a denied one", async () => {
    const { store } = opened();
    const config: PeriodicConfig = { kind: "fixed window", rate: 2, period: 1000, start: START };
    const full = decideRateLimit(null, config, NOW, 0).next!;
    const empty = { ...full, value: 0.5 };
    await store.apply([write(row("empty"), empty)]);
    const keys = ["new", "empty", "new", "other"];
    const results = await store.apply(keys.map((key) => limit(row(key), config, 1)));
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true]);
    expect(await read(store, row("new"))).toEqual({ ...full, value: 0 });
    expect(await read(store, row("empty"))).toEqual(empty);
    expect(await read(store, row("other"))).toEqual({ ...full, value: 1 });
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
