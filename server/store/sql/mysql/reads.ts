/** The reads of the table on MySQL and MariaDB. */
import type { Row } from "../../../../core/rows/row.js";
import { rowKey, type RowId } from "../../store.js";
import type { Statements } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import { rowIdOf, rowsFound, statesOf } from "../sql.js";
import { sumsFound, sumsText } from "../sum-rows.js";
import type { DatabaseClock } from "../table/database-clock.js";
import type { MysqlEngine } from "./engines.js";
import { type SeenRows, waitingBriefly } from "./locks.js";
import {
  boundsOf,
  byPrimary,
  CLOCK,
  ID,
  ID_COLUMNS,
  idValues,
  jsonTable,
  SAME_ROW,
  shownRows,
  shownState,
  shownText,
  storedText,
} from "./text.js";

const SHOWN = shownState("t.");
const IDS = jsonTable(ID_COLUMNS);

/** Reads rows by a list. @param prefix goes before the statement */
export type ReadRows = (
  connection: SqlConnection,
  rows: readonly RowId[],
  locking: "" | "FOR UPDATE" | "FOR UPDATE NOWAIT" | "FOR UPDATE SKIP LOCKED",
  prefix?: string,
) => Promise<Map<string, Row>>;

/**
 * STRAIGHT_JOIN and LEFT JOIN both make the list the outer table. When the clock is read, a row that
 * does not exist comes as a row of nulls.
 *
 * @param table quoted.
 */
export function createReadRows(table: string, clock: DatabaseClock): ReadRows {
  return async (connection, rows, locking, prefix = "") => {
    const learn = clock.due();
    const found = await connection.query(
      `${prefix}SELECT ${SHOWN} ${learn ? `, ${CLOCK}` : ""} FROM ${IDS} ` +
        `${learn ? "LEFT JOIN" : "STRAIGHT_JOIN"} ${byPrimary(table)} ON ${SAME_ROW} ${locking}`,
      [JSON.stringify(rows.map(idValues))],
    );
    learn?.(found);
    return statesOf(shownRows(found));
  };
}

/** @param table quoted. */
export function mysqlRead(
  table: string,
  clock: DatabaseClock,
  readRows: ReadRows,
  seen: SeenRows,
  engine: MysqlEngine,
): Statements["read"] {
  const lockExisting = createLockExisting(table, clock, readRows, seen);
  return async (connection, rows) => {
    const { lock, patience } = connection.locking;
    if (lock === "none") return readRows(connection, rows, "");
    if (patience === "none") return readRows(connection, rows, "FOR UPDATE NOWAIT");
    if (patience === "unbounded") return lockExisting(connection, rows);
    return waitingBriefly(connection, engine, (tx, prefix) =>
      readRows(tx, rows, "FOR UPDATE", prefix),
    );
  };
}

/**
 * Locks those rows that exist, inside a transaction of the application. At REPEATABLE READ, the lock of
 * a row that does not exist would be a lock on a gap, which keeps all new rows out of the gap: every
 * two transactions on new rows would be a deadlock.
 *
 * If all rows were seen lately, they are locked at once, without the inner SELECT. At Serializable, the
 * inner SELECT locks, too, and two transactions would be a deadlock (17 of 20 on one row). A snapshot
 * may also hide a row that exists, and then only its lock shows it.
 *
 * @param table quoted.
 */
function createLockExisting(
  table: string,
  clock: DatabaseClock,
  readRows: ReadRows,
  seen: SeenRows,
): Statements["read"] {
  // An outer FOR UPDATE does not lock what an inner SELECT reads.
  const foundRows = `(SELECT i.\`name\`, i.\`key\`, i.\`shard\` FROM ${IDS} STRAIGHT_JOIN ${byPrimary(table)} ON ${SAME_ROW}) AS i`;
  return async (connection, rows) => {
    const expected = rows.filter(seen.has);
    let states: Map<string, Row> = new Map();
    if (expected.length < rows.length) {
      const learn = clock.due();
      const found = await connection.query(
        `SELECT ${SHOWN} ${learn ? `, ${CLOCK}` : ""} FROM ${foundRows} ` +
          `STRAIGHT_JOIN ${byPrimary(table)} ON ${SAME_ROW} FOR UPDATE`,
        [JSON.stringify(rows.map(idValues))],
      );
      learn?.(found);
      states = statesOf(shownRows(found));
    }
    const hidden = expected.filter((row) => !states.has(rowKey(row)));
    if (hidden.length > 0) {
      for (const [id, state] of await readRows(connection, hidden, "FOR UPDATE"))
        states.set(id, state);
    }
    for (const row of rows) seen.note(row, states.has(rowKey(row)));
    return states;
  };
}

/** @param table quoted. */
export function mysqlLookUps(
  table: string,
): Pick<Statements, "list" | "earliest" | "sums" | "nextName"> {
  return {
    async sums(connection, name, terms) {
      const where = "`name` = ? AND `ts` >= ? AND `ts` < ?";
      // TRIM takes away one text, and no set of characters.
      const start = (key: string) =>
        `LEFT(${key}, CHAR_LENGTH(${key}) - LOCATE('|', REVERSE(${key})) + 1)`;
      // Prisma 6 takes a text that is compared byte by byte, and was calculated, for bytes.
      const shown = (of: string) => `CAST(${of} AS CHAR)`;
      const text = sumsText({ table, mark: "`", start, shown, where }, terms);
      const params = [storedText(name), terms.from, terms.to];
      return sumsFound(await connection.query(text, params), terms);
    },

    async earliest(connection, name, prefix, count) {
      const rows = await connection.query(
        `SELECT ${SHOWN} FROM ${byPrimary(table)} WHERE t.\`name\` = ? AND t.\`key\` BETWEEN ? AND ? ` +
          `ORDER BY t.\`ts\`, t.\`key\` LIMIT ${count}`,
        [storedText(name), ...boundsOf(prefix)],
      );
      return rowsFound(shownRows(rows));
    },

    async list(connection, name, after, count, prefix) {
      // The key and the shard are compared apart: a comparison of two pairs would read all rows of the
      // name.
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
