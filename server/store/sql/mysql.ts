/**
 * MySQL 8 and MariaDB 10.6 or later.
 *
 * MariaDB can return the rows that a statement has written, so its plain take is one statement.
 * MySQL cannot, so every take goes the general way. Neither returns which of many rows an UPDATE
 * has found, so many rows are written in a transaction that locks, compares and writes. It runs at
 * READ COMMITTED, where InnoDB locks rows and not the gaps between them.
 */
import type { Write, WriteGroup } from "../plan-writes.js";
import { WriteConflictError } from "../retry-conflicts.js";
import { compareLockOrder, rowKey, type RowId } from "../store.js";
import { CLOCK, type DatabaseClock } from "./database-clock.js";
import { isDuplicate, isWriteConflict } from "./database-errors.js";
import type { Connection, Dialect } from "./dialect.js";
import type { SqlConnection } from "./driver.js";
import { mariaDbTake } from "./mariadb-take.js";
import {
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
} from "./mysql-text.js";
import { rowIdOf, statesOf, quotedTable, type TableName } from "./sql.js";

const SHOWN = shownState("t.");
const IDS = jsonTable(ID_COLUMNS);
const STATE_COLUMNS = [...ID_COLUMNS, "`value` DOUBLE", "`ts` DOUBLE"];
const STATES = jsonTable(STATE_COLUMNS);
const CHANGES = jsonTable([...STATE_COLUMNS, "`wasValue` DOUBLE", "`wasTs` DOUBLE"]);

export function mysql(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName, "`");
  const take = mariaDbTake(table, clock);
  let isMariaDb = false;

  const lock = (onLocked: Connection["onLocked"]) => {
    if (onLocked === "skip") return "";
    const wait = onLocked === "fail" ? "NOWAIT" : onLocked === "wait" || !isMariaDb ? "" : "WAIT 1";
    return `ORDER BY t.\`name\`, t.\`key\`, t.\`shard\` FOR UPDATE ${wait}`;
  };
  // STRAIGHT_JOIN makes the list the outer table, so that rows are found by the primary key.
  // LEFT JOIN does, too. With the clock, a row that does not exist is a row of nulls.
  const read = async (connection: SqlConnection, rows: readonly RowId[], locking: string) => {
    const params = [JSON.stringify(rows.map(idValues))];
    const found = await clock.query((withClock) =>
      connection.query(
        `SELECT ${SHOWN} ${withClock ? `, ${CLOCK.mysql}` : ""} FROM ${IDS} ` +
          `${withClock ? "LEFT JOIN" : "STRAIGHT_JOIN"} ${table} AS t ON ${SAME_ROW} ${locking}`,
        params,
      ),
    );
    return statesOf(shownRows(found));
  };

  /** Locks and compares rows that exist, and writes the groups that are as they were. */
  async function updateLocked(connection: Connection, groups: readonly WriteGroup[]) {
    const writes = groups.flatMap((group) => group.writes);
    const { onLocked } = connection;
    const locking = onLocked === "skip" ? "FOR UPDATE SKIP LOCKED" : lock(onLocked);
    const rows = writes.map(({ row }) => row);
    const states = await read(connection, rows, locking);
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
        `UPDATE ${table} AS t JOIN ${CHANGES} ON ${SAME_ROW} ` +
          "SET t.`value` = i.`value`, t.`ts` = i.`ts` " +
          "WHERE t.`value` = i.`wasValue` AND t.`ts` = i.`wasTs`",
        [asJson(changes)],
      );
      if (found !== changes.length) throw new WriteConflictError();
    }
    return new Set(won.map(({ row }) => rowKey(row)));
  }

  const guard = "WHERE `name` = ? AND `key` = ? AND `shard` = ? AND `value` = ? AND `ts` = ?";

  return {
    maxInFlight: 2,
    hasRowLocks: true,
    waitingOutdatesSnapshot: false,
    canUpsert: false,
    isConflict: isWriteConflict,

    prepare(version) {
      isMariaDb = /mariadb/i.test(version);
    },

    read: (connection, rows) => read(connection, rows, lock(connection.onLocked)),

    take: async (...args) => (isMariaDb ? take(...args) : new Map()),

    async update(connection, groups) {
      const { row, was, next } = groups[0]!.writes[0]!;
      if (groups.length === 1 && groups[0]!.writes.length === 1) {
        const found = await connection.execute(
          `UPDATE ${table} SET \`value\` = ?, \`ts\` = ? ${guard}`,
          [next!.value, next!.ts, ...idValues(row), was!.value, was!.ts],
        );
        return new Set(found > 0 ? [rowKey(row)] : []);
      }
      const run = (tx: Connection) => updateLocked(tx, groups);
      return connection.transaction === undefined ? run(connection) : connection.transaction(run);
    },

    /** Inserts all rows or none: a duplicate undoes the whole statement. */
    async insert(connection, writes) {
      try {
        await connection.execute(
          `INSERT INTO ${table} (${STATE}) SELECT ${STATE} FROM ${STATES} ORDER BY ${ID}`,
          [asJson(writes)],
        );
      } catch (error) {
        if (isDuplicate(error)) return new Set();
        throw error;
      }
      return new Set(writes.map(({ row }) => rowKey(row)));
    },

    async remove(connection, writes) {
      const run = async (tx: SqlConnection) => {
        const removed = new Set<string>();
        for (const { row, was } of writes.toSorted((a, b) => compareLockOrder(a.row, b.row))) {
          const params = [...idValues(row), was!.value, was!.ts];
          const found = await tx.execute(`DELETE FROM ${table} ${guard}`, params);
          if (found > 0) removed.add(rowKey(row));
        }
        return removed;
      };
      // One commit for all of them: each one has to reach the disk (100 rows in 2 s under load).
      return writes.length === 1 || connection.transaction === undefined
        ? run(connection)
        : connection.transaction(run);
    },

    async list(connection, name, after, count) {
      // A comparison of two pairs would read all rows of the name.
      const behind = after === undefined ? "" : "AND `key` >= ? AND (`key` > ? OR `shard` > ?)";
      const key = after && storedText(after.key);
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE \`name\` = ? ${behind} ` +
          // MySQL takes no double as a parameter of LIMIT, and drivers send numbers as doubles.
          `ORDER BY \`key\`, \`shard\` LIMIT ${count}`,
        [storedText(name), ...(after === undefined ? [] : [key, key, after.shard])],
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

function asJson(writes: readonly Write[]): string {
  return JSON.stringify(
    writes.map(({ row, next, was }) => [
      ...idValues(row),
      next!.value,
      next!.ts,
      ...(was === null ? [] : [was.value, was.ts]),
    ]),
  );
}
