/**
 * Checks whether row-level security hides the rows from the application itself: the application connects
 * as another role than the owner of the tables, and has no policy. The calls of such an application fail,
 * and grant nothing.
 */
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { quotedTable, type TableName } from "../../server/store/sql/sql.js";
import { failure, type Finding, ok } from "./finding.js";

/**
 * Looks for a policy for each of four commands: a policy may be for one command only, and a limiter
 * reads, inserts, updates and deletes.
 */
const HIDDEN = `
  SELECT current_user AS "role", row_security_active(k.oid) AND EXISTS (
    SELECT 1 FROM unnest(ARRAY['r', 'a', 'w', 'd']) AS c WHERE NOT EXISTS (
      SELECT 1 FROM pg_policy AS p WHERE p.polrelid = k.oid AND p.polpermissive
        AND p.polcmd IN ('*', c) AND EXISTS (
          SELECT 1 FROM unnest(p.polroles) AS m WHERE m = 0 OR pg_has_role(m, 'USAGE')))
  ) AS "isHidden"
  FROM pg_class AS k WHERE k.oid = to_regclass($1)`;

/** @param tables the tables that the application uses. Another check reports a missing table. */
export async function checkRowSecurity(
  dialect: DialectName,
  connection: SqlConnection,
  tables: readonly TableName[],
): Promise<Finding[]> {
  if (dialect !== "postgresql") return [];
  const findings: Finding[] = [];
  let isThere = false;
  for (const table of tables) {
    const shown = quotedTable(table);
    const [row] = await connection.query(HIDDEN, [shown]);
    isThere ||= row !== undefined;
    if (row?.["isHidden"] !== true) continue;
    const message =
      `row-level security hides the rows of table ${shown} from ${String(row["role"])}, as which ` +
      "doctor is connected, and calls of that role fail";
    const advice =
      "connect as the role that owns the table, or run " +
      `CREATE POLICY limiter ON ${shown} TO ${String(row["role"])} USING (true);`;
    findings.push(failure("row-security", message, advice));
  }
  if (findings.length > 0 || !isThere) return findings;
  return [ok("row-security", "the application sees the rows of the tables")];
}
