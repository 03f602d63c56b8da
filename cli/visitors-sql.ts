/**
 * SQL that closes tables to the visitors of an application. Supabase gives two roles all rights on each
 * new table of the schema `public`. Any visitor may call Supabase's REST API as one of these roles.
 */
export const SUPABASE_ROLES: readonly string[] = ["anon", "authenticated"];

/**
 * Takes all rights from those roles that exist, so that the SQL also runs on a server without the roles.
 *
 * @param tables as they stand in SQL, in quotes.
 * @param roles names that need no quotes.
 */
export function revokeSql(tables: readonly string[], roles: readonly string[]): string {
  const revokes = roles.flatMap((role) => [
    `  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN`,
    `    REVOKE ALL ON ${tables.join(", ")} FROM ${role};`,
    "  END IF;",
  ]);
  return [
    "-- Any visitor may be one of these roles, by the REST API of Supabase, which gives them all rights.",
    "DO $$",
    "BEGIN",
    ...revokes,
    "END",
    "$$;",
  ].join("\n");
}

/** Hides all rows from roles without a policy. The SQL makes no policy. */
function rowSecuritySql(tables: readonly string[]): string {
  return [
    "-- Without a policy, only the owner of a table and roles with BYPASSRLS see its rows. Connect the",
    "-- application as the role that runs this migration: on Supabase that is postgres.",
    ...tables.map((table) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;`),
  ].join("\n");
}

/** Takes the rights, and hides the rows: the rows stay hidden if the rights are granted anew. */
export function closeTablesSql(tables: readonly string[], roles: readonly string[]): string {
  return `${revokeSql(tables, roles)}\n\n${rowSecuritySql(tables)}`;
}
