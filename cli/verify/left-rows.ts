/** Finds the tables and keys of runs that were killed, and so could not remove them. */
import { DIALECTS } from "../../server/store/sql/dialects.js";
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { quotedTable } from "../../server/store/sql/sql.js";
import { type Finding, warning } from "../doctor/finding.js";
import { dropSql, pagesOf, PREFIX, TABLE, unlinkCommand } from "./own-rows.js";

/** A server may keep names in lower case. */
const NAME = new RegExp(`^${TABLE}[0-9a-f]{10}(?:Override)?$`, "i");

const LISTS: Record<DialectName, string> = {
  postgresql:
    'SELECT n.nspname AS "schema", c.relname AS "name" FROM pg_class AS c ' +
    `JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND c.relname LIKE '${TABLE}%' ` +
    "ORDER BY 1, 2",
  mysql:
    "SELECT table_name AS `name` FROM information_schema.tables " +
    `WHERE table_schema = DATABASE() AND table_name LIKE '${TABLE}%' ORDER BY 1`,
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '${TABLE}%' ORDER BY 1`,
};

/** Before this run has made its own. Removes none: another run may use them. */
export async function findLeftTables(
  dialect: DialectName,
  { query }: SqlConnection,
): Promise<Finding[]> {
  const rows = await query(LISTS[dialect], []);
  const tables = rows
    .filter(({ name }) => NAME.test(String(name)))
    .map(({ schema, name }) =>
      quotedTable(
        { name: String(name), schema: schema as string | undefined },
        DIALECTS[dialect].mark,
      ),
    );
  return left(tables.length, "tables", dropSql(dialect, tables));
}

/** As `findLeftTables`. */
export async function findLeftKeys(
  send: (args: readonly string[]) => Promise<unknown>,
): Promise<Finding[]> {
  const keys = new Set<string>();
  for await (const page of pagesOf(send, PREFIX)) for (const key of page) keys.add(key);
  return left(keys.size, "keys", unlinkCommand(PREFIX));
}

function left(count: number, what: string, remove: string): Finding[] {
  if (count === 0) return [];
  const message = `there are ${what} of verify (${count}), of a run that was killed or that goes on`;
  return [warning("left", message, `if no other run goes on: ${remove}`)];
}
