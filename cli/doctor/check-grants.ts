/**
 * Checks whether visitors can use the tables without the application. Supabase gives the roles `anon` and
 * `authenticated` all rights on each new table of the schema `public`, and any visitor may call
 * Supabase's REST API as one of these roles. A visitor could then read keys, delete the row of a denied
 * log-in, or insert an override.
 */
import type { DialectName, SqlConnection, SqlRow } from "../../server/store/sql/driver.js";
import { quotedTable, type TableName } from "../../server/store/sql/sql.js";
import { SUPABASE_ROLES } from "../visitors-sql.js";
import { failure, type Finding, ok } from "./finding.js";

/** The roles of visitors: of Supabase, of Neon's REST API, and of the examples of PostgREST. */
const VISITORS = [...SUPABASE_ROLES, "anonymous", "web_anon"];

/**
 * Reads the rights of visitors, and of `PUBLIC`, which stands for every role. `goesOn` says whether the
 * connected role would still see the rows under row-level security.
 */
const RIGHTS = `
  SELECT r."role", k.relrowsecurity AS "isSecured",
    ${mayDo("INSERT", "a", "coalesce(p.polwithcheck, p.polqual)")} OR ${mayDo("UPDATE", "w")} OR
      ${mayDo("DELETE", "d")} AS "writes",
    ${mayDo("SELECT", "r")} AS "reads",
    (pg_has_role(k.relowner, 'USAGE') AND NOT k.relforcerowsecurity) OR EXISTS (
      SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolbypassrls OR rolsuper)) AS "goesOn"
  FROM (
    SELECT 'public' AS "role", 0::oid AS "oid", false AS "bypasses"
    UNION ALL SELECT rolname::text, oid, rolbypassrls OR rolsuper FROM pg_roles
      WHERE rolname = ANY ($2::text[])
  ) AS r JOIN pg_class AS k ON k.oid = to_regclass($1)
  WHERE r."role" <> current_user AND has_schema_privilege(r."role", k.relnamespace, 'USAGE')
  ORDER BY r."role"`;

/**
 * SQL for whether a role has a right on the rows. Under row-level security, a role without a policy that
 * permits something has no right on rows. A policy counts if it is for all roles, for this role, or for a
 * role of which this role is a member. A policy that is `false` permits nothing, and is common.
 */
function mayDo(right: string, command: string, condition = "p.polqual"): string {
  // A right can be on some columns only. DELETE is always a right on the whole table.
  const has = right === "DELETE" ? "has_table_privilege" : "has_any_column_privilege";
  return `(${has}(r."role", k.oid, '${right}') AND (
    NOT k.relrowsecurity OR r."bypasses" OR EXISTS (
      SELECT 1 FROM pg_policy AS p WHERE p.polrelid = k.oid AND p.polcmd IN ('*', '${command}')
        AND p.polpermissive AND pg_get_expr(${condition}, p.polrelid) IS DISTINCT FROM 'false'
        AND EXISTS (SELECT 1 FROM unnest(p.polroles) AS m WHERE m = 0 OR m = r."oid" OR (
          r."oid" <> 0 AND pg_has_role(r."oid", m, 'USAGE'))))))`;
}

/**
 * @param visitors the names of the visitors' roles. @default the roles of Supabase, Neon and PostgREST
 */
export async function checkGrants(
  dialect: DialectName,
  connection: SqlConnection,
  limits: TableName,
  overrides: TableName,
  visitors: readonly string[] = VISITORS,
): Promise<Finding[]> {
  if (dialect !== "postgresql") return [];
  const findings: Finding[] = [];
  for (const table of [limits, overrides]) {
    const shown = quotedTable(table);
    const rows = await connection.query(RIGHTS, [shown, visitors]);
    const having = (right: "reads" | "writes") =>
      rows.filter((row) => row[right] === true).map(({ role }) => String(role));
    const [writers, readers] = [having("writes"), having("reads")];
    const all = [...new Set([...writers, ...readers])];
    if (all.length === 0) continue;
    const message =
      writers.length > 0
        ? `table ${shown} can be written by ${writers.join(", ")}`
        : `the keys in table ${shown} can be read by ${readers.join(", ")}`;
    findings.push(failure("grants", message, adviceFor(shown, all, rows[0]!)));
  }
  if (findings.length > 0) return findings;
  return [ok("grants", "no role of visitors can read or write the tables")];
}

/** Advises row-level security only where the application would still see its rows. */
function adviceFor(table: string, roles: readonly string[], { isSecured, goesOn }: SqlRow): string {
  const secure = goesOn === true && isSecured !== true;
  const sql =
    `REVOKE ALL ON ${table} FROM ${roles.join(", ")};` +
    (secure ? ` ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;` : "");
  return `run ${sql} docs/guides/supabase.md of trpc-rate-limit says why`;
}
