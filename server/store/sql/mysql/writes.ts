/**
 * The guarded writes on MySQL and MariaDB. Neither database returns which of many rows an UPDATE has
 * found, so many rows are written in a transaction that locks, compares and writes. The transaction
 * runs at READ COMMITTED, where InnoDB locks rows and not the gaps between them.
 */
import type { Write, WriteGroup } from "../../plan-writes.js";
import { WriteConflictError } from "../../retry-conflicts.js";
import { compareLockOrder, rowKey } from "../../store.js";
import type { Connection } from "../connection.js";
import type { Statements } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import type { MysqlEngine } from "./engines.js";
import { isOutOfRange } from "./errors.js";
import { type SeenRows, waitingBriefly } from "./locks.js";
import type { ReadRows } from "./reads.js";
import { byPrimary, ID, ID_COLUMNS, idValues, jsonTable, SAME_ROW, STATE } from "./text.js";

const STATE_COLUMNS = [...ID_COLUMNS, "`used` DOUBLE", "`ts` DOUBLE"];
const STATES = jsonTable(STATE_COLUMNS);
const CHANGES = jsonTable([...STATE_COLUMNS, "`wasUsed` DOUBLE", "`wasTs` DOUBLE"]);

const GUARD = "WHERE t.`used` = ? AND t.`ts` = ?";

/** @param table quoted. */
export function mysqlWrites(
  table: string,
  readRows: ReadRows,
  seen: SeenRows,
  engine: MysqlEngine,
): Pick<Statements, "update" | "insert" | "remove"> {
  const free = freeRow(table);
  return {
    async update(connection, groups) {
      const { row, was, next } = groups[0]!.writes[0]!;
      if (groups.length === 1 && groups[0]!.writes.length === 1) {
        const found = await connection.execute(
          `UPDATE ${free} SET t.\`used\` = ?, t.\`ts\` = ? ${GUARD}`,
          [...idValues(row), next!.used, next!.ts, was!.used, was!.ts],
        );
        return new Set(found > 0 ? [rowKey(row)] : []);
      }
      const run = (tx: Connection) => updateLocked(table, readRows, tx, groups);
      return connection.transaction === undefined ? run(connection) : connection.transaction(run);
    },

    async insert(connection, writes) {
      const ids = (inserted: readonly Write[]) => new Set(inserted.map(({ row }) => rowKey(row)));
      if (await insertAll(table, engine, connection, writes)) return ids(writes);
      if (connection.transaction === undefined) {
        for (const { row } of writes) seen.note(row, true);
        return new Set();
      }
      // Insert the missing rows without the others: they need not fail because other rows exist.
      const rows = writes.map(({ row }) => row);
      const existing = await readRows(connection, rows, "");
      const missing = writes.filter(({ row }) => !existing.has(rowKey(row)));
      const isDone = missing.length > 0 && (await insertAll(table, engine, connection, missing));
      return ids(isDone ? missing : []);
    },

    async remove(connection, writes) {
      const run = async (tx: SqlConnection) => {
        const removed = new Set<string>();
        for (const { row, was } of writes.toSorted((a, b) => compareLockOrder(a.row, b.row))) {
          const params = [...idValues(row), was!.used, was!.ts];
          const found = await tx.execute(`DELETE t FROM ${free} ${GUARD}`, params);
          if (found === 0) continue;
          removed.add(rowKey(row));
          // Otherwise the next `using` call would lock the gap that the row leaves.
          seen.note(row, false);
        }
        return removed;
      };
      // One commit for all deletions: each commit has to reach the disk (100 rows in 2 s under load).
      return writes.length === 1 || connection.transaction === undefined
        ? run(connection)
        : connection.transaction(run);
    },
  };
}

/**
 * One row, unless another transaction has locked it: the owner of the lock is about to change the row,
 * so the guard would fail after the wait. LIMIT keeps the planner from joining the row to itself.
 */
const freeRow = (table: string) =>
  `(SELECT ${ID} FROM ${table} WHERE \`name\` = ? AND \`key\` = ? AND \`shard\` = ? ` +
  `LIMIT 1 FOR UPDATE SKIP LOCKED) AS i STRAIGHT_JOIN ${byPrimary(table)} ON ${SAME_ROW}`;

/** Locks and compares rows that exist, and writes the groups that are as they were. */
async function updateLocked(
  table: string,
  readRows: ReadRows,
  connection: Connection,
  groups: readonly WriteGroup[],
) {
  const writes = groups.flatMap((group) => group.writes);
  const rows = writes.map(({ row }) => row);
  const states = await readRows(connection, rows, "FOR UPDATE SKIP LOCKED");
  const isUnchanged = ({ row, was }: Write) => {
    const state = states.get(rowKey(row));
    return state?.used === was!.used && state.ts === was!.ts;
  };
  const won = groups.flatMap(({ writes: all }) => (all.every(isUnchanged) ? all : []));
  const changes = won.filter(({ was, next }) => was!.used !== next!.used || was!.ts !== next!.ts);
  if (changes.length > 0) {
    // The guard is for clusters, in which another node can change a row in spite of its lock.
    const found = await connection.execute(
      `UPDATE ${CHANGES} STRAIGHT_JOIN ${byPrimary(table)} ON ${SAME_ROW} ` +
        "SET t.`used` = i.`used`, t.`ts` = i.`ts` " +
        "WHERE t.`used` = i.`wasUsed` AND t.`ts` = i.`wasTs`",
      [asJson(changes)],
    );
    if (found !== changes.length) throw new WriteConflictError();
  }
  return new Set(won.map(({ row }) => rowKey(row)));
}

/**
 * Inserts all rows, or inserts none and returns false. At a duplicate, the UPDATE part of the statement
 * raises an error, which undoes the statement. A plain duplicate would leave a lock behind that two
 * transactions share, and then neither transaction could write the row (10 of 20 transactions on a new
 * row).
 */
async function insertAll(
  table: string,
  engine: MysqlEngine,
  connection: Connection,
  writes: readonly Write[],
): Promise<boolean> {
  const text =
    `INSERT INTO ${table} (${STATE}) SELECT ${STATE} FROM ${STATES} ORDER BY ${ID} ` +
    `ON DUPLICATE KEY UPDATE \`ts\` = EXP(9999 + 0 * ${table}.\`ts\`)`;
  try {
    await waitingBriefly(connection, engine, (tx, prefix) =>
      tx.execute(prefix + text, [asJson(writes)]),
    );
    return true;
  } catch (error) {
    if (isOutOfRange(error)) return false;
    throw error;
  }
}

/** The numbers are texts: MySQL parses one in ten of the numbers of a JSON text one bit off. */
function asJson(writes: readonly Write[]): string {
  return JSON.stringify(
    writes.map(({ row, next, was }) => [
      ...idValues(row),
      String(next!.used),
      String(next!.ts),
      ...(was === null ? [] : [String(was.used), String(was.ts)]),
    ]),
  );
}
