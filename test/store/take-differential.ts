/**
 * Holds the plain take of a dialect against `takeTokens`: random configs, states, counts and
 * instants, many of them a bit away from where the decision turns. What the statement writes has to
 * be what `core` calculates, to the last bit.
 */
import { takeTokens } from "../../core/decide.js";
import type { RateLimitConfig, RateLimitState } from "../../core/index.js";
import type { TakeLine, TakeTerms } from "../../server/store/row-access.js";
import type { Dialect } from "../../server/store/sql/dialect.js";
import type { SqlConnection } from "../../server/store/sql/driver.js";
import { rowId, rowKey } from "../../server/store/store.js";

export interface Subject {
  dialect: Dialect;
  connection: SqlConnection;
  /** Whether the statement also inserts rows that do not exist yet. */
  inserts: boolean;
  empty(): Promise<unknown>;
}

export interface Mismatch {
  terms: TakeTerms;
  state: RateLimitState | null;
  total: number;
  expected: RateLimitState | undefined;
  got: RateLimitState | undefined;
}

/** @returns the first cases in which SQL and core do not agree. */
export async function findMismatches(
  { dialect, connection, inserts, empty }: Subject,
  { cases, atOnce = 500, seed = 1 }: { cases: number; atOnce?: number; seed?: number },
): Promise<Mismatch[]> {
  const random = xorshift(seed);
  const mismatches: Mismatch[] = [];
  const own = { ...connection, onLocked: "skip" as const };
  for (let done = 0; done < cases && mismatches.length === 0;) {
    const terms = randomTerms(random);
    // Now and then a single line, which has a statement of its own.
    const count = random() < 0.02 ? 1 : atOnce;
    const plans = Array.from({ length: count }, (_, i) => randomCase(random, terms, i));
    done += count;
    await empty();
    const rows = plans.flatMap(({ line, state }) =>
      state === null ? [] : [{ row: line.row, was: null, next: state }],
    );
    if (rows.length > 0) await dialect.insert(own, rows);
    const taken = await dialect.take(
      connection,
      terms,
      plans.map(({ line }) => line),
      { mayWait: random() < 0.5, isWanted: () => true },
    );
    for (const { line, state } of plans) {
      const { total } = line;
      const expected =
        state === null && !inserts
          ? undefined
          : takeTokens(state, terms.config, terms.now, total, terms.floor);
      const got = taken.get(rowKey(line.row));
      const isSame = Object.is(expected?.value, got?.value) && Object.is(expected?.ts, got?.ts);
      if (!isSame) mismatches.push({ terms, state, total, expected, got });
    }
  }
  return mismatches;
}

function randomTerms(random: () => number): TakeTerms {
  const pick = <T>(...items: T[]) => items[Math.floor(random() * items.length)]!;
  const whole = (most: number) => 1 + Math.floor(random() * most);
  const rate = pick(
    whole(10),
    whole(1e6),
    1 / 3,
    random() * 100,
    random() / 1e6,
    2 ** 40 * random(),
  );
  const period = pick(1, 7, whole(1000), 60_000, whole(1e9), whole(1e11));
  const capacity = pick(rate, whole(10), whole(1e6), random() * 50, 0);
  const now = Date.UTC(2030, 0, 1) + Math.floor(random() * 1e10) + pick(0, 0, random());
  const floor = pick(0, 0, -whole(20), -random() * 1e3, -(2 ** 45));
  const config: RateLimitConfig =
    random() < 0.5
      ? { kind: "token bucket", rate, period, capacity }
      : { kind: "fixed window", rate, period, capacity, start: whole(1e6) };
  return { config, floor, now };
}

function randomCase(
  random: () => number,
  { config, floor, now }: TakeTerms,
  index: number,
): { line: TakeLine; state: RateLimitState | null } {
  const pick = <T>(...items: T[]) => items[Math.floor(random() * items.length)]!;
  const { capacity = config.rate, period } = config;
  const ago = pick(
    0,
    random() * period,
    Math.floor(random() * 50) * period,
    random() * 1e12,
    -random() * 1e6,
  );
  const ts = pick(Math.floor(now - ago), now - ago);
  const value = pick(
    capacity * random(),
    Math.floor(capacity * random()),
    floor * random(),
    (capacity - floor) * random() + floor,
    0,
  );
  const state = random() < 0.1 ? null : { value, ts };
  const most = takeTokens(state, config, now, 0, -Infinity)!.value;
  // At the very edge of what is granted, and a bit to either side of it.
  const edge = most - floor;
  const total = Math.abs(
    pick(
      1,
      1 + Math.floor(random() * 5),
      random() * 3,
      edge,
      neighbour(edge, 1),
      neighbour(edge, -1),
    ),
  );
  const usable = total > 0 && Number.isFinite(total) ? total : 1;
  const row = rowId("differential", `key ${index}`, 0);
  const fresh = takeTokens(null, config, now, usable, -Infinity)!;
  // A line that even a full bucket refuses is never sent.
  if (fresh.value < floor) {
    const least = takeTokens(null, config, now, 0, -Infinity)!;
    const whole = { row, total: 2 ** -30, fresh: { ...least, value: least.value - 2 ** -30 } };
    if (whole.fresh.value >= floor) return { line: whole, state };
    return { line: { row, total: usable, fresh }, state: state ?? { value: 0, ts: now } };
  }
  return { line: { row, total: usable, fresh }, state };
}

/** The next double up or down. */
function neighbour(value: number, step: 1 | -1): number {
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0]! += BigInt(value < 0 ? -step : step);
  return new Float64Array(bits.buffer)[0]!;
}

/** George Marsaglia's xorshift32. */
function xorshift(seed: number): () => number {
  let x = seed | 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}
