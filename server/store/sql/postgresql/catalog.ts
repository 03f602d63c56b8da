/** How a table is looked up in the catalogs of PostgreSQL. */
import type { SqlRow } from "../driver.js";
import { quotedTable } from "../sql.js";
import { type Catalog, columnOf, versionOf } from "../table/catalog.js";
import { TableError } from "../table/table-error.js";
import { ENGINES } from "./engines.js";
import { CLOCK } from "./text.js";

export const CATALOG: Catalog = {
  version: "version()",
  engines: ENGINES,
  instead: "keep the limits in a PostgreSQL from version 12 on",
  clock: CLOCK,
  double: /^(float8|double precision)$/i,
  migrations: "prisma/postgresql/migrations",

  async lookUp(query, table, { key }) {
    const { name, schema } = table;
    const rows = await query(
      `SELECT n.nspname::text AS "schema", a.attname::text AS "name", y.typname::text AS "type",
         c.collname::text AS "collation", to_jsonb(c) ->> 'collisdeterministic' AS "deterministic",
         ${hasKey(key)} AS "hasKey",
         k.oid = to_regclass($1) AS "found", array_to_string(current_schemas(false), ', ') AS "searched",
         current_setting('server_encoding', true) AS "encoding", {more}
       FROM pg_class AS k JOIN pg_namespace AS n ON n.oid = k.relnamespace
       JOIN pg_attribute AS a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
       JOIN pg_type AS y ON y.oid = a.atttypid
       LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
       WHERE k.relname = $2 AND k.relkind IN ('r', 'p', 'v', 'f')`,
      [quotedTable(table), name],
    );
    checkEncoding(rows[0]);
    const found = rows.filter((row) => row["found"] === true);
    return {
      columns: found.map((row) => ({
        ...columnOf(row),
        folds: row["type"] === "citext" || row["deterministic"] === "false",
      })),
      lacksKey: found[0]?.["hasKey"] === false ? "unique key" : undefined,
      version: versionOf(rows),
      searched:
        schema === undefined ? `the search_path${shownPath(rows[0])}` : `schema "${schema}"`,
      elsewhere: [...new Set(rows.map((row) => `schema "${String(row["schema"])}"`))],
    };
  },
};

/**
 * The condition that a table `k` has a unique index on exactly these columns, in any order. Views and
 * foreign tables pass, because they show no indexes.
 */
const hasKey = (key: readonly string[]) => `(k.relkind IN ('v', 'f') OR EXISTS (
  SELECT 1 FROM pg_index AS u WHERE u.indrelid = k.oid AND u.indisunique AND u.indisvalid
    AND u.indimmediate AND u.indpred IS NULL AND u.indnkeyatts = ${key.length} AND ${key.length} = (
      SELECT count(*) FROM pg_attribute AS p WHERE p.attrelid = k.oid
        AND p.attnum = ANY (u.indkey) AND p.attname IN ('${key.join("', '")}'))))`;

function checkEncoding(row: SqlRow | undefined): void {
  const encoding = row?.["encoding"];
  if (typeof encoding !== "string" || /^utf-?8$/i.test(encoding)) return;
  throw new TableError(
    "charset",
    `the database has the encoding ${encoding}; a key with a character that it lacks would fail ` +
      "the calls beside it, so keep the limits in a database with the encoding UTF8",
  );
}

/** The `search_path`; empty if no schema has such a table, because no row tells it then. */
function shownPath(row: SqlRow | undefined): string {
  return row === undefined ? "" : ` (${String(row["searched"])})`;
}
