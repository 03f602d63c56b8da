/**
 * Compares the plain take of a dialect with `takeTokens`, on random configs, states, counts and times.
 * Many cases are one bit away from the limit between a grant and a denial. The statement must write
 * exactly what `core` calculates, to the last bit.
 */
import { usedAt } from "../../../../core/rows/reading.js";
import { floorOf, longestPeriod, mostUsed } from "../../../../core/config.js";
import { takeFromFull, takeTokens } from "../../../../core/decide.js";
import type { RateLimitConfig } from "../../../../core/index.js";
import { CLOSED } from "../../../../core/rows/bucket.js";
import type { Row } from "../../../../core/rows/row.js";
import { heldValue, MAX_NONCE, slotBucket } from "../../../../core/rows/slot.js";
import { windowAt, windowsSince } from "../../../../core/windows.js";
import { withCalendar } from "../../../../core/with-calendar.js";
import type { TakeLine, TakeTerms } from "../../../../server/store/row-access.js";
import { fitsFull, ownOf } from "../../../../server/store/take-terms.js";
import { periodicLines } from "../../../../server/store/sql/current-window.js";
import type { Dialect, Statements } from "../../../../server/store/sql/dialect.js";
import type { SqlConnection } from "../../../../server/store/sql/driver.js";
import { DatabaseClock } from "../../../../server/store/sql/table/database-clock.js";
import { rowId, rowKey } from "../../../../server/store/store.js";

export interface Subject {
  statements: Pick<Statements, "take" | "insert" | "mixesTerms">;
  connection: SqlConnection;
  /** Whether the statement inserts rows that do not exist yet. */
  inserts: boolean;
  empty(): Promise<unknown>;
}

export interface Mismatch {
  terms: TakeTerms;
  now: number;
  state: Row | null;
  total: number;
  expected: Row | undefined;
  actual: Row | undefined;
}

/** The statements for the version of the database. */
export async function statementsOf(
  dialect: Dialect,
  connection: SqlConnection,
): Promise<Statements> {
  const [row] = await connection.query(`SELECT ${dialect.catalog.version} AS version`, []);
  const version = String(row!["version"]);
  return dialect.statements({ name: "RateLimit" }, new DatabaseClock(), version);
}

/** @returns the first cases in which SQL and core disagree. */
export async function findMismatches(
  { statements, connection, inserts, empty }: Subject,
  { cases, batchSize = 500, seed = 1 }: { cases: number; batchSize?: number; seed?: number },
): Promise<Mismatch[]> {
  const random = xorshift(seed);
  const mismatches: Mismatch[] = [];
  const insertConnection = { ...connection, locking: { lock: "none" } as const };
  for (let done = 0; done < cases && mismatches.length === 0;) {
    const now = randomTime(random);
    // Sometimes send a single line, because a single line has its own statement.
    const count = random() < 0.5 ? 1 : batchSize;
    // So do lines that share their terms.
    const several = Array.from({ length: statements.mixesTerms && random() < 0.5 ? 20 : 1 }, () =>
      randomTerms(random),
    );
    const isModest = random() < 0.3;
    const testCases = Array.from({ length: count }, (_, i) =>
      randomCase(random, several[i % several.length]!, now, i, isModest),
    );
    done += count;
    await empty();
    const rows = testCases.flatMap(({ line, state }) =>
      state === null ? [] : [{ row: line.row, was: null, next: state }],
    );
    if (rows.length > 0) await statements.insert(insertConnection, rows);
    const results = await statements.take!(
      connection,
      periodicLines(
        testCases.map(({ line }) => line),
        now,
      ),
      { now, mayWait: random() < 0.5, isWanted: () => true },
    );
    for (const { line, state } of testCases) {
      const { terms, total } = line;
      const isLeft = isOfEarlierWindow(state, terms, now) || isUnder(state, terms, now);
      const expected =
        (state === null && !inserts) || isLeft || isClosed(state)
          ? undefined
          : takeTokens(state, terms.config, now, total, terms.floor, terms.least);
      const actual = results.get(rowKey(line.row));
      const isSame = Object.is(expected?.used, actual?.used) && Object.is(expected?.ts, actual?.ts);
      if (!isSame && !(actual === undefined && mayBeLeft(state, terms)))
        mismatches.push({ terms, now, state, total, expected, actual });
    }
  }
  return mismatches;
}

/** As calls enter the slots of a limit. */
const SLOT: TakeTerms = {
  config: slotBucket({ kind: "concurrency", slots: 1, ttl: 5000 }),
  floor: heldValue(MAX_NONCE + 1, 5000),
};

function randomTerms(random: () => number): TakeTerms {
  if (random() < 0.1) return SLOT;
  const pick = <T>(...items: T[]) => items[Math.floor(random() * items.length)]!;
  const integer = (max: number) => 1 + Math.floor(random() * max);
  const rate = pick(
    integer(10),
    integer(1e6),
    1 / 3,
    random() * 100,
    random() / 1e6,
    2 ** 40 * random(),
  );
  const period = pick(1, 7, integer(1000), 60_000, integer(1e9), integer(1e11));
  const capacity = pick(rate, integer(10), integer(1e6), random() * 50, 0);
  // A bucket of nothing can only owe.
  const debts = [-integer(20), -random() * 1e3, -(2 ** 45)];
  const config: RateLimitConfig = pick<RateLimitConfig>(
    { kind: "token bucket", rate, period, capacity },
    { kind: "fixed window", rate, period, capacity, start: integer(1e6) },
    {
      kind: "fixed window",
      rate,
      period: pick("day", "week", "month"),
      timeZone: pick("America/New_York", "Pacific/Apia"),
      capacity,
    },
  );
  const bucket = withCalendar(config);
  // A bucket of nothing can only owe.
  const floor =
    capacity === 0
      ? -integer(20)
      : pick(0, floorOf(bucket, false), floorOf(bucket, false), ...debts);
  // The more that is used at least, the less a take may want.
  const least = pick(undefined, undefined, 0, capacity / 3, random() * capacity);
  const over = pick(undefined, undefined, capacity / 2, random() * capacity, capacity);
  return {
    config: bucket,
    floor,
    ...(capacity > 0 &&
      (random() < 0.5 ? { least } : over !== undefined && { over, quiet: 2 ** 60 })),
  };
}

/** Whether less is used than must be, or a window has begun where some use must be. */
function isUnder(state: Row | null, { config, over }: TakeTerms, now: number): boolean {
  if (state === null || over === undefined || isClosed(state)) return false;
  if (config.kind === "fixed window" && windowsSince(config, state.ts, now) > 0) return true;
  return usedAt(state, config, now).used < over;
}

/** A closed row is left to `core`, also where it has opened. */
function isClosed(state: Row | null): boolean {
  return state?.used === CLOSED;
}

/** A row of a larger config is left to `core`, and by a take that owes nothing, a debt and any other row, too. */
function mayBeLeft(state: Row | null, { config, floor, least = 0, over }: TakeTerms): boolean {
  if (state === null) return false;
  const most = mostUsed(config, floor);
  const own = ownOf(config);
  const owesNothing = least === 0 && most <= own && over === undefined;
  return state.used > own || (owesNothing && (state.used < 0 || state.used > most));
}

/** A row of a time zone's earlier window is left to `core`. */
function isOfEarlierWindow(state: Row | null, { config }: TakeTerms, now: number): boolean {
  if (config.kind !== "fixed window" || typeof config.period === "number") return false;
  return state !== null && state.ts <= windowAt(config, now) - 1;
}

function randomTime(random: () => number): number {
  return Date.UTC(2030, 0, 1) + Math.floor(random() * 1e10) + (random() < 1 / 3 ? random() : 0);
}

function randomCase(
  random: () => number,
  terms: TakeTerms,
  now: number,
  index: number,
  isModest: boolean,
): { line: TakeLine; state: Row | null } {
  const pick = <T>(...items: T[]) => items[Math.floor(random() * items.length)]!;
  const { config, floor, least, over = 1 } = terms;
  const { capacity = config.rate } = config;
  const period = longestPeriod(config);
  // Of a time zone: the present window, one ms away from it, and the next one.
  const window = config.kind === "fixed window" ? now - windowAt(config, now) : 0;
  const age = pick(
    0,
    window,
    window + pick(-1, 1, -0.5, 0.5),
    random() * period,
    Math.floor(random() * 50) * period,
    random() * 1e12,
    -random() * 1e6,
  );
  const ts = pick(Math.floor(now - age), now - age);
  const most = mostUsed(config, floor);
  const own = ownOf(config);
  const used = pick(
    capacity * random(),
    Math.floor(capacity * random()),
    0,
    // What a config of another capacity has used, and a debt.
    capacity * (1 + 3 * random()),
    Math.floor(capacity * (1 + 3 * random())),
    capacity - most * random(),
    -random() * 20,
    heldValue(Math.ceil(random() * MAX_NONCE), 5000),
    // Next to what the config itself can have used.
    capacity,
    own,
    neighbour(own, 1),
    most,
    over,
    neighbour(over, 1),
    neighbour(over, -1),
    CLOSED,
  );
  const state = random() < 0.1 ? null : { used: Math.max(used, -(2 ** 60)), ts };
  const usedNow = usedAt(state, config, now, least).used;
  // The largest total that is granted.
  const threshold = most - usedNow;
  const anyTotal = Math.abs(
    pick(
      1,
      1 + Math.floor(random() * 5),
      random() * 3,
      threshold,
      neighbour(threshold, 1),
      neighbour(threshold, -1),
      // With more, a debt is written.
      own - usedNow,
      neighbour(own - usedNow, 1),
    ),
  );
  const modest = terms === SLOT ? 1 - heldValue(Math.ceil(random() * MAX_NONCE), 5000) : 1;
  const total = isModest ? modest : anyTotal;
  const row = rowId("differential", `key ${index}`, 0);
  // A store never sends a line that even a full bucket denies. Use a tiny total instead.
  const isValid = total > 0 && Number.isFinite(total) && fitsFull(terms, total);
  const sent = isValid ? total : 2 ** -30;
  const fresh = takeFromFull(config, now, sent, least);
  return { line: { row, terms, total: sent, fresh }, state };
}

/** The next larger or smaller double. */
export function neighbour(value: number, step: 1 | -1): number {
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0]! += BigInt(value < 0 ? -step : step);
  return new Float64Array(bits.buffer)[0]!;
}

/** George Marsaglia's xorshift32. */
export function xorshift(seed: number): () => number {
  let x = seed | 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}
