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

/** Writes the groups with all guards true, in one statement. A row without a value is only a guard. */
const upsertTextOf = (
  table: string,
) => `WITH ${SCALES}, i(${ID}, "value", "ts", "wasValue", "wasTs", "group") AS (
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

const removeTextOf = (table: string) => `WITH ${SCALES}, i(${ID}, "wasValue", "wasTs") AS (
      ${listOf(["id", "id", "id", "number", "number"])}
    )
    DELETE FROM ${table} WHERE (${ID}) IN (
      SELECT t.${ID.replaceAll(", ", ", t.")} FROM i CROSS JOIN ${table} AS t ON ${SAME_ROW}
      AND t."value" = i."wasValue" AND t."ts" = i."wasTs"
    ) RETURNING ${ID}`;
