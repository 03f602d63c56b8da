/**
 * PostgreSQL, in single statements at READ COMMITTED, whatever the number of rows.
 *
 * A plain take queues on the lock of each row: `ON CONFLICT DO UPDATE` evaluates its condition on
 * the newest version of the row, with the lock held. A guarded write skips locked rows: the owner
 * of the lock is about to change them, so the guard would fail after the wait. Neither can
 * deadlock.
 */
import { capacityOf, type RateLimitConfig } from "../../../core/config.js";
import type { Write } from "../plan-writes.js";
import type { TakeLine, TakeOptions, TakeTerms } from "../row-access.js";
import { compareLockOrder, rowKey, type RowId } from "../store.js";
import { CLOCK, type DatabaseClock } from "./database-clock.js";
import { isOutOfRange, isWriteConflict } from "./database-errors.js";
import type { Connection, Dialect } from "./dialect.js";
import type { SqlConnection } from "./driver.js";
import { idsOf, rowIdOf, statesOf, quotedTable, type TableName } from "./sql.js";

/**
 * How long a single statement may wait for one row, ms. Less than `deadlock_timeout`, so that the
 * statement gives way before PostgreSQL looks for a victim, which could be the application's.
 */
const LOCK_WAIT = 100;
/** The same for a transaction that uses only this row. */
const LONG_LOCK_WAIT = 900;
/** How long an insert may wait for another transaction's insert of the same row, ms. */
const INSERT_WAIT = 50;

/**
 * SQL that bounds the waits of the transaction in which it is evaluated; of the statement, if it
 * runs alone. Its value is a text that is not empty.
 */
const patience = (ms: number) => `set_config('lock_timeout', '${ms}', true)`;

const ID = `"name", "key", "shard"`;
/** The columns of the table. They are named everywhere, because some clients refuse `*`. */
const STATE = `${ID}, "value", "ts"`;
const WAS = `${ID}, "wasValue", "wasTs"`;
/** A list of columns, each with the name of its table. */
const of = (table: string, columns: string) =>
  columns.replaceAll(/"\w+"/g, (column) => `${table}.${column}`);
const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

export function postgresql(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName);

  const locks: Record<Connection["onLocked"], string> = {
    skip: "",
    // The weaker lock passes a row that is held by `"hold"`. It is enough for an update.
    fail: "FOR NO KEY UPDATE OF t NOWAIT",
    wait: "FOR UPDATE OF t",
    "wait briefly": "FOR UPDATE OF t",
    hold: "FOR KEY SHARE OF t",
    enter: "FOR NO KEY UPDATE OF t",
  };
  // With the clock, a row that does not exist is a row of nulls.
  const readTextOf = (onLocked: Connection["onLocked"], withClock: boolean) => `
    SELECT ${of("t", STATE)} ${withClock ? `, ${CLOCK.postgresql}` : ""}
    FROM unnest($1::text[], $2::text[], $3::int[]) AS i(${ID})
    ${withClock ? "LEFT" : "INNER"} JOIN LATERAL (
      SELECT ${of("t", STATE)} FROM ${table} AS t
      WHERE ${SAME_ROW} ${onLocked === "wait briefly" ? `AND ${patience(LONG_LOCK_WAIT)} <> ''` : ""}
      LIMIT 1 ${locks[onLocked]}
    ) AS t ON true`;
  // Kept, because a driver looks up prepared statements by their text.
  const readTexts = new Map<string, string>();
  const readText = (onLocked: Connection["onLocked"], withClock: boolean): string => {
    const id = `${onLocked}${withClock}`;
    const text = readTexts.get(id) ?? readTextOf(onLocked, withClock);
    readTexts.set(id, text);
    return text;
  };

  const INSERT = `
    INSERT INTO ${table} AS t (${STATE}) SELECT ${of("i", STATE)}
    FROM unnest($1::text[], $2::text[], $3::int[], $4::float8[], $5::float8[]) AS i(${STATE})`;

  // LATERAL and LIMIT keep the planner to one look-up by the primary key per row. Measured and
  // rejected: a plain join, which hashes the whole table (twice as long, 256 of 10,000 rows).
  const lockSame = (columns: string, from: string, lock: "UPDATE" | "NO KEY UPDATE") => `
    SELECT ${of("i", columns)} FROM ${from} CROSS JOIN LATERAL (
      SELECT 1 FROM ${table} AS t
      WHERE ${SAME_ROW} AND t."value" = i."wasValue" AND t."ts" = i."wasTs"
      LIMIT 1 FOR ${lock} OF t SKIP LOCKED
    ) AS t`;
  const GUARD = `${SAME_ROW} AND t."value" = i."wasValue" AND t."ts" = i."wasTs"`;
  const DELETE = `
    WITH l AS MATERIALIZED (${lockSame(
      WAS,
      `unnest($1::text[], $2::text[], $3::int[], $4::float8[], $5::float8[]) AS i(${WAS})`,
      "UPDATE",
    )})
    DELETE FROM ${table} AS t USING l AS i WHERE ${GUARD} RETURNING ${of("t", ID)}`;
  const NEXT = `${WAS}, "value", "ts", "group"`;
  const updateText = (inGroups: boolean) => `
    WITH i AS (
      SELECT ${of("i", NEXT)} FROM unnest($1::text[], $2::text[], $3::int[], $4::float8[],
        $5::float8[], $6::float8[], $7::float8[], $8::int[]) AS i(${NEXT})
    ), l AS MATERIALIZED (${lockSame(NEXT, "i", "NO KEY UPDATE")})
    UPDATE ${table} AS t SET "value" = i."value", "ts" = i."ts" FROM l AS i WHERE ${GUARD}
    ${inGroups ? `AND i."group" IN (${WHOLE_GROUPS})` : ""}
    RETURNING ${of("t", ID)}`;
  const UPDATE = updateText(false);
  const UPDATE_GROUPS = updateText(true);

  const takes = (clockColumn: string) => ({
    "token bucket": takeTexts(table, tokenBucket, clockColumn),
    "fixed window": takeTexts(table, fixedWindow, clockColumn),
  });
  const plainTakes = takes("");
  const clockTakes = takes(`, ${CLOCK.postgresql}`);

  return {
    maxInFlight: 2,
    hasRowLocks: true,
    waitingOutdatesSnapshot: true,
    canUpsert: false,
    isConflict: isWriteConflict,
    boundLockWaits: (ms) => `SET LOCAL lock_timeout = ${ms}`,

    async read(connection, rows) {
      const params = idParams(rows);
      const found = await clock.query((withClock) =>
        connection.query(readText(connection.onLocked, withClock), params),
      );
      return statesOf(found);
    },

    async take(connection, terms, lines, options) {
      try {
        return await take(connection, clock, [plainTakes, clockTakes], terms, lines, options);
      } catch (error) {
        // The limiter never writes such a row. Leave it to `decide`, or its neighbours would fail
        // too.
        if (isOutOfRange(error)) return new Map();
        throw error;
      }
    },

    async update(connection, groups) {
      const writes = groups.flatMap((group) => group.writes);
      const isWhole = groups.length === writes.length;
      const params = [
        ...wasParams(writes),
        writes.map(({ next }) => next!.value),
        writes.map(({ next }) => next!.ts),
        groups.flatMap((group, index) => group.writes.map(() => index)),
      ];
      return idsOf(await connection.query(isWhole ? UPDATE : UPDATE_GROUPS, params));
    },

    async insert(connection, writes) {
      // Insert in order, so that two statements cannot wait for each other's rows.
      const sorted = [...writes].sort((a, b) => compareLockOrder(a.row, b.row));
      const params = [
        ...idParams(sorted.map(({ row }) => row)),
        sorted.map(({ next }) => next!.value),
        sorted.map(({ next }) => next!.ts),
      ];
      const { onLocked } = connection;
      const wait = onLocked === "skip" ? `WHERE ${patience(LOCK_WAIT)} <> ''` : "";
      const text = `${INSERT} ${wait} ON CONFLICT DO NOTHING RETURNING ${ID}`;
      const run = async () => idsOf(await connection.query(text, params));
      return onLocked === "fail" ? waitingLess(connection, run) : run();
    },

    async remove(connection, writes) {
      return idsOf(await connection.query(DELETE, wasParams(writes)));
    },

    async list(connection, name, after, count) {
      const behind = after === undefined ? "" : `AND ("key", "shard") > ($3, $4)`;
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE "name" = $1 ${behind} ORDER BY "key", "shard" LIMIT $2`,
        after === undefined ? [name, count] : [name, count, after.key, after.shard],
      );
      return rows.map(rowIdOf);
    },
  };
}

/** The groups of `i` with all of their rows locked, that is, in `l`. */
const WHOLE_GROUPS = `
  SELECT i."group" FROM i LEFT JOIN (
    SELECT "group", count(*) AS "locked" FROM l GROUP BY "group"
  ) AS k USING ("group")
  GROUP BY i."group", k."locked" HAVING count(*) = k."locked"`;

/** The formula of `takeTokens` over a row `t`. Its operations are in the order of `stateAt`. */
interface TakeFormula {
  held: string;
  ts: string;
}

// Without casts: they would take a tenth of the time for planning the statement.
const tokenBucket: TakeFormula = {
  held: `LEAST(t."value" + GREATEST(0, $10 - t."ts") * $6 / $7, $8)`,
  ts: `GREATEST(t."ts", $10)`,
};

const WINDOWS = `floor(GREATEST(0, $10 - t."ts") / $7)`;
const fixedWindow: TakeFormula = {
  held: `LEAST(t."value" + ${WINDOWS} * $6, $8)`,
  ts: `t."ts" + ${WINDOWS} * $7`,
};

type TakesByKind = Record<RateLimitConfig["kind"], TakeTexts>;

interface TakeTexts {
  /**
   * For one line. It is short, because without prepared statements it is planned at every call. It
   * waits for the row without a bound. It cannot deadlock, because it holds no lock meanwhile.
   */
  one: string;
  /** The same with a bound (some 10 µs). */
  oneBounded: string;
  /** For many lines. The total of each line is computed from the row that it would insert. */
  many: string;
  /** For many lines, if a total cannot be computed that way without a rounding error. */
  manyWithTotals: string;
}

function takeTexts(table: string, { held, ts }: TakeFormula, clockColumn: string): TakeTexts {
  const text = (source: string, total: string, columns: string) => `
    INSERT INTO ${table} AS t (${STATE}) ${source}
    ON CONFLICT (${ID}) DO UPDATE SET "value" = ${held} - ${total}, "ts" = ${ts}
    WHERE ${held} - ${total} >= $9
    RETURNING ${columns} ${clockColumn}`;
  const state = `t."value", t."ts"`;
  // A subquery hides the number of rows from the planner. Otherwise it would plan the statement
  // again for each number of rows (0.5 ms).
  const lists =
    `SELECT ${of("i", STATE)} FROM (SELECT $1::text[] AS a, $2::text[] AS b, $3::int[] AS c, ` +
    `$4::float8[] AS d, $5::float8[] AS e OFFSET 0) AS p, unnest(p.a, p.b, p.c, p.d, p.e) AS i(${STATE}) ` +
    `WHERE ${patience(LOCK_WAIT)} <> ''`;
  return {
    one: text("VALUES ($1, $2, $3, $4, $5)", "$11", state),
    // Appends an empty string to the name, in order to evaluate the bound of the wait.
    oneBounded: text(
      `VALUES ($1 || left(${patience(LOCK_WAIT)}, 0), $2, $3, $4, $5)`,
      "$11",
      state,
    ),
    many: text(lists, `($8 - excluded."value")`, of("t", STATE)),
    manyWithTotals: text(
      lists,
      `($11::jsonb -> excluded."name" ->> excluded."key")::float8`,
      of("t", STATE),
    ),
  };
}

async function take(
  connection: SqlConnection,
  clock: DatabaseClock,
  texts: readonly [without: TakesByKind, withClock: TakesByKind],
  { config, floor, now }: TakeTerms,
  lines: readonly TakeLine[],
  { mayWait, isWanted }: TakeOptions,
) {
  const query = (name: (line: TakeTexts) => string, values: unknown[]) =>
    clock.query((withClock) => {
      return connection.query(name(texts[withClock ? 1 : 0][config.kind]), values, isWanted);
    });
  const capacity = capacityOf(config);
  const terms = [config.rate, config.period, capacity, floor, now];
  if (lines.length === 1) {
    const { row, total, fresh } = lines[0]!;
    const params = [row.name, row.key, row.shard, fresh.value, fresh.ts, ...terms, total];
    const [next] = await query(({ one, oneBounded }) => (mayWait ? one : oneBounded), params);
    if (next === undefined) return new Map();
    return new Map([[rowKey(row), { value: Number(next["value"]), ts: Number(next["ts"]) }]]);
  }
  const params = [
    ...idParams(lines.map(({ row }) => row)),
    lines.map(({ fresh }) => fresh.value),
    lines.map(({ fresh }) => fresh.ts),
    ...terms,
  ];
  if (lines.every(({ total, fresh }) => capacity - fresh.value === total)) {
    return statesOf(await query(({ many }) => many, params));
  }
  const totals = new Map<string, Record<string, string>>();
  for (const { row, total } of lines) {
    const ofName = totals.get(row.name) ?? {};
    // Sent as text, because PostgreSQL would turn a number into a decimal.
    Object.defineProperty(ofName, row.key, { value: String(total), enumerable: true });
    totals.set(row.name, ofName);
  }
  params.push(JSON.stringify(Object.fromEntries(totals)));
  return statesOf(await query(({ manyWithTotals }) => manyWithTotals, params));
}

/**
 * Shortens the wait of an insert, for a transaction whose owner retries. A row that does not exist
 * cannot be locked: the second transaction that inserts it waits for the first one to commit. Two
 * such waits are a deadlock, and PostgreSQL takes a second to find it.
 */
async function waitingLess<TResult>(
  connection: SqlConnection,
  run: () => Promise<TResult>,
): Promise<TResult> {
  const [before] = await connection.query(
    `SELECT current_setting('lock_timeout') AS "timeout",
       set_config('lock_timeout', '${INSERT_WAIT}', true)`,
    [],
  );
  const result = await run();
  await connection.query(`SELECT set_config('lock_timeout', $1, true)`, [before!["timeout"]]);
  return result;
}

function idParams(rows: readonly RowId[]): unknown[] {
  return [rows.map(({ name }) => name), rows.map(({ key }) => key), rows.map(({ shard }) => shard)];
}

function wasParams(writes: readonly Write[]): unknown[] {
  return [
    ...idParams(writes.map(({ row }) => row)),
    writes.map(({ was }) => was!.value),
    writes.map(({ was }) => was!.ts),
  ];
}
