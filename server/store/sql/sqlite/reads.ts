/** The reads of the table on SQLite. */
import { firstWith } from "../../store.js";
import type { Statements } from "../dialect.js";
import { rowIdOf, rowsFound, statesOf } from "../sql.js";
import { sumsFound, sumsText } from "../sum-rows.js";
import type { DatabaseClock } from "../table/database-clock.js";
import { CLOCK, ID, idValues } from "./text.js";

/** @param table quoted. */
export function sqliteReads(
  table: string,
  clock: DatabaseClock,
): Pick<Statements, "read" | "list" | "earliest" | "sums" | "nextName"> {
  return {
    /** The rows are one JSON parameter, so the text of the statement is always the same. */
    async read(connection, rows) {
      const params = [JSON.stringify(rows.map(idValues))];
      const learn = clock.due();
      // CROSS and LEFT JOIN make the list the outer table, so that rows are found by the primary key.
      // When the clock is read, a row that does not exist comes as a row of nulls.
      const found = await connection.query(
        `SELECT t.${ID.replaceAll(", ", ", t.")}, t."used", t."ts" ${learn ? `, ${CLOCK}` : ""}
           FROM json_each(?) AS i ${learn ? "LEFT" : "CROSS"} JOIN ${table} AS t
           ON t."name" = i."value" ->> 0
           AND t."key" = i."value" ->> 1 AND t."shard" = i."value" ->> 2`,
        params,
      );
      learn?.(found);
      return statesOf(found);
    },

    async list(connection, name, given, count, prefix) {
      const after = given ?? firstWith(name, prefix);
      const behind = after === undefined ? "" : `AND ("key", "shard") > (?, ?)`;
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE "name" = ? ${behind} ORDER BY "key", "shard" LIMIT ?`,
        [name, ...(after === undefined ? [] : [after.key, after.shard]), count],
      );
      return rows.map(rowIdOf).filter(({ key }) => key.startsWith(prefix ?? ""));
    },

    async earliest(connection, name, prefix, count) {
      const rows = await connection.query(
        `SELECT ${ID}, "used", "ts" FROM ${table}
           WHERE "name" = ? AND "key" BETWEEN ? AND ? ORDER BY "ts", "key" LIMIT ?`,
        // In the order of bytes, no key with this prefix comes after the upper bound.
        [name, prefix, prefix + "\u{10FFFF}".repeat(192), count],
      );
      return rowsFound(rows);
    },

    async sums(connection, name, terms) {
      const where = `"name" = ? AND "ts" >= ? AND "ts" < ?`;
      const start = (key: string) => `rtrim(${key}, '0123456789')`;
      const text = sumsText({ table, mark: '"', start, where }, terms);
      return sumsFound(await connection.query(text, [name, terms.from, terms.to]), terms);
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
