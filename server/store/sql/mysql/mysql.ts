/**
 * MySQL 8 and MariaDB 10.6 or later.
 *
 * MariaDB can return the rows that a statement has written, so its plain take is one statement.
 * MySQL cannot, so it has no plain take, and every call goes the general way. Neither returns which of many rows an UPDATE
 * has found, so many rows are written in a transaction that locks, compares and writes. It runs at
 * READ COMMITTED, where InnoDB locks rows and not the gaps between them.
 *
 * Every statement that may lock finds its rows by the primary key, which has to be forced: of a
 * small table the planner reads all rows, and InnoDB locks what is read.
 */
import type { RateLimitState } from "../../../../core/calculate.js";
import type { Write, WriteGroup } from "../../plan-writes.js";
import { WriteConflictError } from "../../retry-conflicts.js";
import { compareLockOrder, rowKey, type RowId } from "../../store.js";
import { CLOCK, type DatabaseClock } from "../table/database-clock.js";
import { isOutOfRange, isWriteConflict } from "../database-errors.js";
import type { Connection, Dialect } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import { mariaDbTake } from "./mariadb-take.js";
import { createSeenRows, waitingBriefly } from "./locks.js";
import {
  boundsOf,
  ID,
  ID_COLUMNS,
  idValues,
  jsonTable,
  SAME_ROW,
  shownRows,
  shownState,
  shownText,
  STATE,
  storedText,
} from "./text.js";
import { rowIdOf, statesOf, quotedTable, type TableName } from "../sql.js";

const SHOWN = shownState("t.");
const IDS = jsonTable(ID_COLUMNS);
const STATE_COLUMNS = [...ID_COLUMNS, "`value` DOUBLE", "`ts` DOUBLE"];
const STATES = jsonTable(STATE_COLUMNS);
const CHANGES = jsonTable([...STATE_COLUMNS, "`wasValue` DOUBLE", "`wasTs` DOUBLE"]);

const GUARD = "WHERE t.`value` = ? AND t.`ts` = ?";

export function mysql(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName, "`");
  const byKey = `${table} AS t FORCE INDEX (PRIMARY)`;
  const take = mariaDbTake(table, clock);
  const seen = createSeenRows();
  let isMariaDb = false;

  // STRAIGHT_JOIN makes the list the outer table. LEFT JOIN does, too. With the clock, a row that
  // does not exist is a row of nulls.
  const read = async (
    connection: SqlConnection,
    rows: readonly RowId[],
    locking: "" | "FOR UPDATE" | "FOR UPDATE NOWAIT" | "FOR UPDATE SKIP LOCKED",
    prefix = "",
  ) => {
    const params = [JSON.stringify(rows.map(idValues))];
    const found = await clock.query((withClock) =>
      connection.query(
        `${prefix}SELECT ${SHOWN} ${withClock ? `, ${CLOCK.mysql}` : ""} FROM ${IDS} ` +
          `${withClock ? "LEFT JOIN" : "STRAIGHT_JOIN"} ${byKey} ON ${SAME_ROW} ${locking}`,
        params,
      ),
    );
    return statesOf(shownRows(found));
  };

  const lockBriefly = (connection: Connection, rows: readonly RowId[]) =>
    waitingBriefly(connection, isMariaDb, (tx, prefix) => read(tx, rows, "FOR UPDATE", prefix));

  // An outer FOR UPDATE does not lock what an inner SELECT reads.
  const foundRows = `(SELECT i.\`name\`, i.\`key\`, i.\`shard\` FROM ${IDS} STRAIGHT_JOIN ${byKey} ON ${SAME_ROW}) AS i`;

  /**
   * Locks those rows that exist, inside a transaction of the application. At REPEATABLE READ, the
   * lock of a row that does not exist would be one on a gap, which keeps out all new rows there: a
   * deadlock of every two transactions on new rows.
   *
   * Rows that were seen lately are locked at once. Otherwise two transactions at Serializable, where
   * the inner SELECT locks too, would be a deadlock (17 of 20 on one row). A snapshot may also hide
   * a row that exists, and then only its lock shows it.
   */
  async function lockExisting(connection: Connection, rows: readonly RowId[]) {
    const expected = rows.filter(seen.has);
    let states: Map<string, RateLimitState> = new Map();
    if (expected.length < rows.length) {
      const found = await clock.query((withClock) =>
        connection.query(
          `SELECT ${SHOWN} ${withClock ? `, ${CLOCK.mysql}` : ""} FROM ${foundRows} ` +
            `STRAIGHT_JOIN ${byKey} ON ${SAME_ROW} FOR UPDATE`,
          [JSON.stringify(rows.map(idValues))],
        ),
      );
      states = statesOf(shownRows(found));
    }
    const hidden = expected.filter((row) => !states.has(rowKey(row)));
    if (hidden.length > 0) {
      for (const [id, state] of await read(connection, hidden, "FOR UPDATE")) states.set(id, state);
    }
    for (const row of rows) seen.note(row, states.has(rowKey(row)));
    return states;
  }

  /** Locks and compares rows that exist, and writes the groups that are as they were. */
  async function updateLocked(connection: Connection, groups: readonly WriteGroup[]) {
    const writes = groups.flatMap((group) => group.writes);
    const rows = writes.map(({ row }) => row);
    const states = await read(connection, rows, "FOR UPDATE SKIP LOCKED");
    const isUnchanged = ({ row, was }: Write) => {
      const state = states.get(rowKey(row));
      return state?.value === was!.value && state.ts === was!.ts;
    };
    const won = groups.flatMap(({ writes: all }) => (all.every(isUnchanged) ? all : []));
    const changes = won.filter(
      ({ was, next }) => was!.value !== next!.value || was!.ts !== next!.ts,
    );
    if (changes.length > 0) {
      // The guard is for clusters, in which another node can change a row in spite of its lock.
      const found = await connection.execute(
        `UPDATE ${CHANGES} STRAIGHT_JOIN ${byKey} ON ${SAME_ROW} ` +
          "SET t.`value` = i.`value`, t.`ts` = i.`ts` " +
          "WHERE t.`value` = i.`wasValue` AND t.`ts` = i.`wasTs`",
        [asJson(changes)],
      );
      if (found !== changes.length) throw new WriteConflictError();
    }
    return new Set(won.map(({ row }) => rowKey(row)));
  }

  // One row, unless another transaction has locked it: its owner is about to change it, so the guard
  // would fail after the wait. LIMIT keeps the planner from joining the row to itself.
  const free =
    `(SELECT ${ID} FROM ${table} WHERE \`name\` = ? AND \`key\` = ? AND \`shard\` = ? ` +
    `LIMIT 1 FOR UPDATE SKIP LOCKED) AS i STRAIGHT_JOIN ${byKey} ON ${SAME_ROW}`;

  /**
   * Inserts all rows, or none and returns false: what a duplicate would be updated to is an error,
   * which undoes the statement. A plain duplicate would leave a lock behind that two transactions
   * share, and then neither can write the row (10 of 20 transactions on a new row).
   */
  async function insertAll(connection: Connection, writes: readonly Write[]): Promise<boolean> {
    const text =
      `INSERT INTO ${table} (${STATE}) SELECT ${STATE} FROM ${STATES} ORDER BY ${ID} ` +
      `ON DUPLICATE KEY UPDATE \`ts\` = EXP(9999 + 0 * ${table}.\`ts\`)`;
    try {
      await waitingBriefly(connection, isMariaDb, (tx, prefix) =>
        tx.execute(prefix + text, [asJson(writes)]),
      );
      return true;
    } catch (error) {
      if (isOutOfRange(error)) return false;
      throw error;
    }
  }

  return {
    maxInFlight: 2,
    hasRowLocks: true,
    waitingOutdatesSnapshot: false,
    canUpsert: false,
    // A deadlock does, and a lock wait time-out if `innodb_rollback_on_timeout` is on.
    conflictEndsTransaction: true,
    isConflict: isWriteConflict,

    prepare(version) {
      isMariaDb = /mariadb/i.test(version);
    },

    async read(connection, rows) {
      const { lock, patience } = connection.locking;
      if (lock === "none") return read(connection, rows, "");
      if (patience === "none") return read(connection, rows, "FOR UPDATE NOWAIT");
      return patience === "unbounded"
        ? lockExisting(connection, rows)
        : lockBriefly(connection, rows);
    },

    get take() {
      return isMariaDb ? take : undefined;
    },
    mixesTerms: true,

    async update(connection, groups) {
      const { row, was, next } = groups[0]!.writes[0]!;
      if (groups.length === 1 && groups[0]!.writes.length === 1) {
        const found = await connection.execute(
          `UPDATE ${free} SET t.\`value\` = ?, t.\`ts\` = ? ${GUARD}`,
          [...idValues(row), next!.value, next!.ts, was!.value, was!.ts],
        );
        return new Set(found > 0 ? [rowKey(row)] : []);
      }
      const run = (tx: Connection) => updateLocked(tx, groups);
      return connection.transaction === undefined ? run(connection) : connection.transaction(run);
    },

    async insert(connection, writes) {
      if (await insertAll(connection, writes)) return new Set(writes.map(({ row }) => rowKey(row)));
      if (connection.transaction === undefined) {
        for (const { row } of writes) seen.note(row, true);
        return new Set();
      }
      // Rows that are inserted alone need not share the fate of those that exist.
      const existing = await read(
        connection,
        writes.map(({ row }) => row),
        "",
      );
      const missing = writes.filter(({ row }) => !existing.has(rowKey(row)));
      if (missing.length === 0 || !(await insertAll(connection, missing))) return new Set();
      return new Set(missing.map(({ row }) => rowKey(row)));
    },

    async remove(connection, writes) {
      const run = async (tx: SqlConnection) => {
        const removed = new Set<string>();
        for (const { row, was } of writes.toSorted((a, b) => compareLockOrder(a.row, b.row))) {
          const params = [...idValues(row), was!.value, was!.ts];
          const found = await tx.execute(`DELETE t FROM ${free} ${GUARD}`, params);
          if (found === 0) continue;
          removed.add(rowKey(row));
          // Otherwise the next `using` call would lock the gap that the row leaves.
          seen.note(row, false);
        }
        return removed;
      };
      // One commit for all of them: each one has to reach the disk (100 rows in 2 s under load).
      return writes.length === 1 || connection.transaction === undefined
        ? run(connection)
        : connection.transaction(run);
    },

    async list(connection, name, after, count, prefix) {
      // A comparison of two pairs would read all rows of the name.
      const behind = after === undefined ? "" : "AND `key` >= ? AND (`key` > ? OR `shard` > ?)";
      const key = after && storedText(after.key);
      const begins = prefix === undefined ? "" : "AND `key` BETWEEN ? AND ?";
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE \`name\` = ? ${behind} ${begins} ` +
          // MySQL takes no double as a parameter of LIMIT, and drivers send numbers as doubles.
          `ORDER BY \`key\`, \`shard\` LIMIT ${count}`,
        [
          storedText(name),
          ...(after === undefined ? [] : [key, key, after.shard]),
          ...(prefix === undefined ? [] : boundsOf(prefix)),
        ],
      );
      return shownRows(rows).map(rowIdOf);
    },

    async nextName(connection, after) {
      const [row] = await connection.query(
        `SELECT \`name\` FROM ${table} ${after === undefined ? "" : "WHERE `name` > ?"} ` +
          "ORDER BY `name` LIMIT 1",
        after === undefined ? [] : [storedText(after)],
      );
      return row && shownText(row["name"] as string);
    },
  };
}

/** The numbers are texts: MySQL parses one in ten of the numbers of a JSON text one bit off. */
function asJson(writes: readonly Write[]): string {
  return JSON.stringify(
    writes.map(({ row, next, was }) => [
      ...idValues(row),
      String(next!.value),
      String(next!.ts),
      ...(was === null ? [] : [String(was.value), String(was.ts)]),
    ]),
  );
}
