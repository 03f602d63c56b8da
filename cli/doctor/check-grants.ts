/**
 * Whether people whom the application has not let in can use the tables. Supabase gives all rights on
 * each new table of the schema `public` to `anon` and `authenticated`, as whom any visitor may call its
 * REST API. A visitor could then delete the row of a denied log-in, or insert an override.
 */
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { quotedTable, type TableName } from "../../server/store/sql/sql.js";
import { failure, type Finding, ok, warning } from "./finding.js";

/** The roles of visitors: those of Supabase, and that of the examples of PostgREST. */
const VISITORS = ["anon", "authenticated", "web_anon"];

/**
 * The rights of visitors, and of `PUBLIC`, which is every role. Row-level security takes the rights on
 * rows away from a role for which there is no policy.
 */
const RIGHTS = `
  SELECT r."role", ${mayDo("INSERT", "a")} OR ${mayDo("UPDATE", "w")} OR ${mayDo("DELETE", "d")} AS "writes",
    ${mayDo("SELECT", "r")} AS "reads"
  FROM (
    SELECT 'public' AS "role", 0::oid AS "oid", false AS "bypasses"
    UNION ALL SELECT rolname::text, oid, rolbypassrls FROM pg_roles WHERE rolname = ANY ($2::text[])
  ) AS r JOIN pg_class AS k ON k.oid = to_regclass($1)
  WHERE r."role" <> current_user AND has_schema_privilege(r."role", k.relnamespace, 'USAGE')
  ORDER BY r."role"`;

function mayDo(right: string, command: string): string {
  return `(has_table_privilege(r."role", k.oid, '${right}') AND (
    NOT k.relrowsecurity OR r."bypasses" OR EXISTS (
      SELECT 1 FROM pg_policy AS p WHERE p.polrelid = k.oid AND p.polcmd IN ('*', '${command}')
        AND p.polroles && ARRAY[0, r."oid"]::oid[])))`;
}

export async function checkGrants(
  dialect: DialectName,
  connection: SqlConnection,
  limits: TableName,
  overrides: TableName,
): Promise<Finding[]> {
  if (dialect !== "postgresql") return [];
  const findings: Finding[] = [];
  for (const table of [limits, overrides]) {
    const shown = quotedTable(table);
    const rows = await connection.query(RIGHTS, [shown, VISITORS]);
    const rolesWith = (right: "reads" | "writes") =>
      rows.filter((row) => row[right] === true).map(({ role }) => String(role));
    const [writers, readers] = [rolesWith("writes"), rolesWith("reads")];
    const all = [...new Set([...writers, ...readers])];
    if (all.length === 0) continue;
    const advice =
      `run REVOKE ALL ON ${shown} FROM ${all.join(", ")}; or put the tables into a schema that ` +
      "visitors cannot use: docs/databases.md of trpc-rate-limit has both";
    findings.push(
      writers.length > 0
        ? failure("grants", `table ${shown} can be written by ${writers.join(", ")}`, advice)
        : warning(
            "grants",
            `the keys in table ${shown} can be read by ${readers.join(", ")}`,
            advice,
          ),
    );
  }
  if (findings.length > 0) return findings;
  return [ok("grants", "no role of visitors can read or write the tables")];
}
