/**
 * SQLite. A statement that writes holds SQLite's write lock from its first step, so one that reads,
 * decides and writes is atomic by itself. It needs no transaction, and avoids the busy errors of a
 * read followed by a write when two processes share a file.
 */
import type { Write } from "../../plan-writes.js";
import { firstWith } from "../../store.js";
import { CLOCK, type DatabaseClock } from "../table/database-clock.js";
import { isBusy, isWriteConflict } from "../database-errors.js";
import type { Dialect } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import { idsOf, rowIdOf, statesOf, quotedTable, type TableName } from "../sql.js";
import { sqliteTake } from "./take.js";
import { sqliteWriteAtOnce } from "./write-at-once.js";
import { ID, idValues, listOf, removeParam, SAME_ROW, SCALES, upsertParam } from "./text.js";

export function sqlite(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName);

  /**
   * Writes the groups with all guards true, in one statement. A row without a value is only a guard.
   */
  const UPSERT = `WITH ${SCALES}, i(${ID}, "value", "ts", "wasValue", "wasTs", "group") AS (
      ${listOf(["id", "id", "id", "number", "number", "number", "number", "id"])}
    ), lost AS (
      SELECT i."group" FROM i LEFT JOIN ${table} AS t ON ${SAME_ROW}
      WHERE t."value" IS NOT i."wasValue" OR t."ts" IS NOT i."wasTs"
    )
    INSERT INTO ${table} (${ID}, "value", "ts")
    SELECT ${ID}, "value", "ts" FROM i
    WHERE "value" IS NOT NULL AND "group" NOT IN (SELECT "group" FROM lost)
    ON CONFLICT (${ID}) DO UPDATE SET "value" = excluded."value", "ts" = excluded."ts"
    RETURNING ${ID}`;

  const upsert = async (connection: SqlConnection, groups: readonly (readonly Write[])[]) => {
    return idsOf(await connection.query(UPSERT, [upsertParam(groups)]));
  };

  const REMOVE = `WITH ${SCALES}, i(${ID}, "wasValue", "wasTs") AS (
      ${listOf(["id", "id", "id", "number", "number"])}
    )
    DELETE FROM ${table} WHERE (${ID}) IN (
      SELECT t.${ID.replaceAll(", ", ", t.")} FROM i CROSS JOIN ${table} AS t ON ${SAME_ROW}
      AND t."value" = i."wasValue" AND t."ts" = i."wasTs"
    ) RETURNING ${ID}`;

  return {
    // SQLite has only one writer at a time.
    maxInFlight: 1,
    hasRowLocks: false,
    waitingOutdatesSnapshot: false,
    canUpsert: true,
    conflictEndsTransaction: false,
    isConflict: (error) => isWriteConflict(error) || isBusy(error),

    /** The rows are one JSON parameter, so the text of the statement is always the same. */
    async read(connection, rows) {
      const params = [JSON.stringify(rows.map(idValues))];
      const found = await clock.query((withClock) =>
        // CROSS and LEFT JOIN make the list the outer table, so that rows are found by the primary
        // key. With the clock, a row that does not exist is a row of nulls.
        connection.query(
          `SELECT t.${ID.replaceAll(", ", ", t.")}, t."value", t."ts" ${withClock ? `, ${CLOCK.sqlite}` : ""}
           FROM json_each(?) AS i ${withClock ? "LEFT" : "CROSS"} JOIN ${table} AS t
           ON t."name" = i."value" ->> 0
           AND t."key" = i."value" ->> 1 AND t."shard" = i."value" ->> 2`,
          params,
        ),
      );
      return statesOf(found);
    },

    take: sqliteTake(table, clock),
    mixesTerms: true,

    update: (connection, groups) =>
      upsert(
        connection,
        groups.map(({ writes }) => writes),
      ),

    insert: (connection, writes) =>
      upsert(
        connection,
        writes.map((write) => [write]),
      ),

    async remove(connection, writes) {
      return idsOf(await connection.query(REMOVE, [removeParam(writes)]));
    },

    writeAtOnce: sqliteWriteAtOnce(UPSERT, REMOVE),

    async list(connection, name, given, count, prefix) {
      const after = given ?? firstWith(name, prefix);
      const behind = after === undefined ? "" : `AND ("key", "shard") > (?, ?)`;
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE "name" = ? ${behind} ORDER BY "key", "shard" LIMIT ?`,
        [name, ...(after === undefined ? [] : [after.key, after.shard]), count],
      );
      return rows.map(rowIdOf).filter(({ key }) => key.startsWith(prefix ?? ""));
    },

    async nextName(connection, after) {
      const [row] = await connection.query(
        `SELECT "name" FROM ${table} ${after === undefined ? "" : `WHERE "name" > ?`}
         ORDER BY "name" LIMIT 1`,
        after === undefined ? [] : [after],
      );
      return row?.["name"] as string | undefined;
    },
  };
}
