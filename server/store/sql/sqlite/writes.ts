/** The guarded writes on SQLite: each is one statement. */
import type { Write } from "../../plan-writes.js";
import type { Statements } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import { idsOf } from "../sql.js";
import { ID, listOf, removeParam, SAME_ROW, SCALES, upsertParam } from "./text.js";
import { sqliteWriteAtOnce } from "./write-at-once.js";

/** @param table quoted. */
export function sqliteWrites(
  table: string,
): Pick<Statements, "canUpsert" | "update" | "insert" | "remove" | "writeAtOnce"> {
  const upsertText = upsertTextOf(table);
  const removeText = removeTextOf(table);
  const upsert = async (connection: SqlConnection, groups: readonly (readonly Write[])[]) =>
    idsOf(await connection.query(upsertText, [upsertParam(groups)]));
  return {
    canUpsert: true,
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
      return idsOf(await connection.query(removeText, [removeParam(writes)]));
    },
    writeAtOnce: sqliteWriteAtOnce(upsertText, removeText),
  };
}

/** Writes the groups with all guards true, in one statement. A row without a `used` is only a guard. */
const upsertTextOf = (
  table: string,
) => `WITH ${SCALES}, i(${ID}, "used", "ts", "wasUsed", "wasTs", "group") AS (
      ${listOf(["id", "id", "id", "number", "number", "number", "number", "id"])}
    ), lost AS (
      SELECT i."group" FROM i LEFT JOIN ${table} AS t ON ${SAME_ROW}
      WHERE t."used" IS NOT i."wasUsed" OR t."ts" IS NOT i."wasTs"
    )
    INSERT INTO ${table} (${ID}, "used", "ts")
    SELECT ${ID}, "used", "ts" FROM i
    WHERE "used" IS NOT NULL AND "group" NOT IN (SELECT "group" FROM lost)
    ON CONFLICT (${ID}) DO UPDATE SET "used" = excluded."used", "ts" = excluded."ts"
    RETURNING ${ID}`;

const removeTextOf = (table: string) => `WITH ${SCALES}, i(${ID}, "wasUsed", "wasTs") AS (
      ${listOf(["id", "id", "id", "number", "number"])}
    )
    DELETE FROM ${table} WHERE (${ID}) IN (
      SELECT t.${ID.replaceAll(", ", ", t.")} FROM i CROSS JOIN ${table} AS t ON ${SAME_ROW}
      AND t."used" = i."wasUsed" AND t."ts" = i."wasTs"
    ) RETURNING ${ID}`;
