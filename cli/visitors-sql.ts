/**
 * SQL that closes tables to the visitors of an application. Supabase gives all rights on each new table
 * of the schema `public` to two roles, as which any visitor may call its REST API.
 */
export const SUPABASE_ROLES: readonly string[] = ["anon", "authenticated"];

/**
 * Takes all rights from the roles that there are, so that it also runs on a server without them.
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

/** Hides all rows from the roles for which there is no policy. There is none. */
function rowSecuritySql(tables: readonly string[]): string {
  return [
    "-- Without a policy, only the owner of a table and roles with BYPASSRLS see its rows. Connect the",
    "-- application as the role that runs this migration: on Supabase that is postgres.",
    ...tables.map((table) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;`),
  ].join("\n");
}

/** Both of them: the rights can be granted anew, and the rows stay hidden then. */
export function closeTablesSql(tables: readonly string[], roles: readonly string[]): string {
  return `${revokeSql(tables, roles)}\n\n${rowSecuritySql(tables)}`;
}
