/**
 * PostgreSQL, in single statements at READ COMMITTED, whatever the number of rows.
 *
 * A plain take queues on the lock of each row: `ON CONFLICT DO UPDATE` evaluates its condition on
 * the newest version of the row, with the lock held. A guarded write skips locked rows: the owner
 * of the lock is about to change them, so the guard would fail after the wait. Neither can
 * deadlock.
 */
import type { Write } from "../../plan-writes.js";
import { compareLockOrder } from "../../store.js";
import { CLOCK, type DatabaseClock } from "../table/database-clock.js";
import { isWriteConflict } from "../database-errors.js";
import type { Connection, Dialect, Locking } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import { isCockroach, isPostgresql, isYugabyte } from "../engine.js";
import { postgresqlWriteAtOnce } from "./write-at-once.js";
import { postgresqlTake } from "./take.js";
import {
  BY_KEY,
  FEW,
  ID,
  idParams,
  LOCK_WAIT,
  of,
  patience,
  rowsFrom,
  SAME_ROW,
  SHOWN_BITS,
  SHOWN_DOUBLES,
  shownState,
  STATE,
} from "./text.js";
import { idsOf, rowIdOf, statesOf, quotedTable, type TableName } from "../sql.js";

/** How long a transaction that uses only one row may wait for it, ms; see `LOCK_WAIT`. */
const LONG_LOCK_WAIT = 900;
/** The same for a transaction whose end other calls wait for, ms. */
const SHORT_LOCK_WAIT = 50;
/** How long an insert may wait for another transaction's insert of the same row, ms. */
const INSERT_WAIT = 50;

const WAS = `${ID}, "wasValue", "wasTs"`;

export function postgresql(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName);

  let shown = SHOWN_BITS;
  let take = postgresqlTake(table, clock, shown);

  // With the clock, a row that does not exist is a row of nulls.
  const readTextOf = (
    locking: Locking,
    withClock: boolean,
  ) => `SELECT ${of("t", ID)}, ${shown} ${withClock ? `, ${CLOCK.postgresql}` : ""}
    FROM ${rowsFrom(ID)}
    ${withClock ? "LEFT" : "INNER"} JOIN LATERAL (
      SELECT ${of("t", STATE)} FROM ${table} AS t
      WHERE ${SAME_ROW} AND ${BY_KEY} ${boundOf(locking)}
      LIMIT 1 ${lockOf(locking)}
    ) AS t ON true`;
  // Kept, because a driver looks up prepared statements by their text.
  const readTexts = new Map<string, string>();
  const readText = (locking: Locking, withClock: boolean): string => {
    const id = `${locking.lock} ${locking.patience} ${withClock}`;
    const text = readTexts.get(id) ?? readTextOf(locking, withClock);
    readTexts.set(id, text);
    return text;
  };

  const INSERT = `INSERT INTO ${table} AS t (${STATE}) SELECT ${of("i", STATE)} FROM ${rowsFrom(STATE)}`;

  // LATERAL and LIMIT keep the planner to one look-up by the primary key per row. Measured and
  // rejected: a plain join, which hashes the whole table (twice as long, 256 of 10,000 rows).
  const lockSame = (
    columns: string,
    from: string,
    lock: "UPDATE" | "NO KEY UPDATE",
  ) => `SELECT ${of("i", columns)} FROM ${from} CROSS JOIN LATERAL (
      SELECT 1 FROM ${table} AS t
      WHERE ${SAME_ROW} AND ${BY_KEY} AND t."value" = i."wasValue" AND t."ts" = i."wasTs"
      LIMIT 1 FOR ${lock} OF t SKIP LOCKED
    ) AS t`;
  const GUARD = `${SAME_ROW} AND ${BY_KEY} AND ${FEW} AND t."value" = i."wasValue" AND t."ts" = i."wasTs"`;
  const DELETE = `WITH l AS MATERIALIZED (${lockSame(WAS, rowsFrom(WAS), "UPDATE")})
    DELETE FROM ${table} AS t USING l AS i WHERE ${GUARD} RETURNING ${of("t", ID)}`;
  const NEXT = `${WAS}, "value", "ts", "group"`;
  const updateText = (
    inGroups: boolean,
  ) => `WITH i AS (SELECT ${of("i", NEXT)} FROM ${rowsFrom(NEXT)}), l AS MATERIALIZED (${lockSame(NEXT, "i", "NO KEY UPDATE")})
    UPDATE ${table} AS t SET "value" = i."value", "ts" = i."ts" FROM l AS i WHERE ${GUARD}
    ${inGroups ? `AND i."group" IN (${WHOLE_GROUPS})` : ""}
    RETURNING ${of("t", ID)}`;
  const UPDATE = updateText(false);
  const UPDATE_GROUPS = updateText(true);

  const writeAtOnce = postgresqlWriteAtOnce(table);

  // Others may refuse a subquery in some places.
  let isOther = false;
  let isOnCockroach = false;
  let canSkipWhenSerializable = true;
  /** A text for a transaction that may be Serializable. Without NOWAIT, waits are bounded anyway. */
  const fit = (connection: Connection, text: string) => {
    const known = isOther ? text.replaceAll(BY_KEY, "true") : text;
    return canSkipWhenSerializable || connection.transaction !== undefined
      ? known
      : known.replace(/ SKIP LOCKED| NOWAIT/g, "");
  };

  return {
    maxInFlight: 2,
    hasRowLocks: true,
    get waitingOutdatesSnapshot() {
      return !isOnCockroach;
    },
    canUpsert: false,
    conflictEndsTransaction: false,
    isConflict: isWriteConflict,
    prepare(version) {
      canSkipWhenSerializable = !isYugabyte(version);
      isOther = !isPostgresql(version);
      isOnCockroach = isCockroach(version);
      if (!isOnCockroach) return;
      shown = SHOWN_DOUBLES;
      take = postgresqlTake(table, clock, shown);
    },
    readOnlyProbe: `SELECT 1 FROM ${table} WHERE false FOR UPDATE`,
    boundLockWaits: (ms) => `SET LOCAL lock_timeout = ${ms}`,

    async read(connection, rows) {
      const params = idParams(rows);
      const found = await clock.query((withClock) =>
        connection.query(fit(connection, readText(connection.locking, withClock)), params),
      );
      return statesOf(found, shownState);
    },

    get take() {
      return take;
    },
    get mixesTerms() {
      return !isOther;
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
      return idsOf(
        await connection.query(fit(connection, isWhole ? UPDATE : UPDATE_GROUPS), params),
      );
    },

    async insert(connection, writes) {
      // Insert in order, so that two statements cannot wait for each other's rows.
      const sorted = [...writes].sort((a, b) => compareLockOrder(a.row, b.row));
      const params = [
        ...idParams(sorted.map(({ row }) => row)),
        sorted.map(({ next }) => next!.value),
        sorted.map(({ next }) => next!.ts),
      ];
      const { lock, patience: waits } = connection.locking;
      const wait = lock === "none" ? `WHERE ${patience(LOCK_WAIT)} <> ''` : "";
      const text = `${INSERT} ${wait} ON CONFLICT DO NOTHING RETURNING ${ID}`;
      const run = async () => idsOf(await connection.query(text, params));
      return waits === "none" ? waitingLess(connection, run) : run();
    },

    async remove(connection, writes) {
      return idsOf(await connection.query(fit(connection, DELETE), wasParams(writes)));
    },

    get writeAtOnce() {
      return isOther ? undefined : writeAtOnce;
    },

    async list(connection, name, after, count, prefix) {
      if (prefix !== undefined) {
        // It does not depend on the order of a collation. Under "C", the index finds the rows.
        const behind = after === undefined ? "" : `AND ("key", "shard") > ($4, $5)`;
        const rows = await connection.query(
          `SELECT ${ID} FROM ${table} WHERE "name" = $1 AND "key" LIKE $2 ESCAPE '!' ${behind}
           ORDER BY ${ID} LIMIT $3`,
          [
            name,
            prefix.replaceAll(/[!%_]/g, "!$&") + "%",
            count,
            ...(after ? [after.key, after.shard] : []),
          ],
        );
        return rows.map(rowIdOf);
      }
      // The condition also holds for later names, so that the planner follows the index. Measured
      // and rejected: `"name" = $1`, which sorts all rows of the name for each page if the table has
      // no statistics (50 ms instead of 1 ms for 1,000 of 100,000 rows).
      const beyond =
        after === undefined ? `"name" >= $1` : `("name", "key", "shard") > ($1, $3, $4)`;
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE ${beyond} ORDER BY ${ID} LIMIT $2`,
        after === undefined ? [name, count] : [name, count, after.key, after.shard],
      );
      return rows.map(rowIdOf).filter((row) => row.name === name);
    },

    async nextName(connection, after) {
      const [row] = await connection.query(
        `SELECT "name" FROM ${table} ${after === undefined ? "" : `WHERE "name" > $1`}
         ORDER BY "name" LIMIT 1`,
        after === undefined ? [] : [after],
      );
      return row?.["name"] as string | undefined;
    },
  };
}

const LOCKS: Record<Locking["lock"], string> = {
  none: "",
  exclusive: "FOR UPDATE OF t",
  holding: "FOR KEY SHARE OF t",
  // It is weaker, and enough for an update.
  passing: "FOR NO KEY UPDATE OF t",
};

function lockOf({ lock, patience: waits }: Locking): string {
  return waits === "none" ? `${LOCKS[lock]} NOWAIT` : LOCKS[lock];
}

/** A condition that bounds the wait for a row. */
function boundOf({ patience: waits }: Locking): string {
  if (waits === "brief") return `AND ${patience(LONG_LOCK_WAIT)} <> ''`;
  return waits === "hurried" ? `AND ${patience(SHORT_LOCK_WAIT)} <> ''` : "";
}

/** The groups of `i` with all of their rows locked, that is, in `l`. */
const WHOLE_GROUPS = `SELECT i."group" FROM i LEFT JOIN (
    SELECT "group", count(*) AS "locked" FROM l GROUP BY "group"
  ) AS k USING ("group")
  GROUP BY i."group", k."locked" HAVING count(*) = k."locked"`;

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

function wasParams(writes: readonly Write[]): unknown[] {
  return [
    ...idParams(writes.map(({ row }) => row)),
    writes.map(({ was }) => was!.value),
    writes.map(({ was }) => was!.ts),
  ];
}
