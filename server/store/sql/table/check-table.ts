/**
 * Checks the engine, the session and the table before the first decision, and says what is wrong and
 * what to do.
 * One statement per store. Otherwise a wrong table would show itself late: as an error of a
 * statement that few people know, or not at all. The same statement reads the database's clock.
 */
import { CLOCK, type DatabaseClock } from "./database-clock.js";
import type { DialectName, SqlConnection, SqlRow } from "../driver.js";
import { checkEngine, REPORT, VERSION } from "../engine.js";
import { BACKSLASH, checkSettings, SETTING_COLUMNS } from "../mysql/settings.js";
import { quotedTable, type TableName } from "../sql.js";
import { TableError } from "./table-error.js";

interface Column {
  name: string;
  type: string;
  /** The name of its collation, if it has one, and whether that is known to fold case. */
  collation: string | undefined;
  folds: boolean;
}

interface FoundTable {
  columns: Column[];
  /** The key without which a bucket could have several rows, if the table lacks it. */
  lacksKey?: "primary key" | "unique key" | undefined;
  /** What the database reports as its version, if it has such a table. SQLite is not asked. */
  version: string | undefined;
  /** Where the database looked, and other places that have such a table. */
  searched: string;
  elsewhere: string[];
}

/** What a table must have. Both tables of the package are keyed by texts, and hold doubles. */
export interface TableShape {
  columns: readonly string[];
  doubles: readonly string[];
  /** The columns of the primary key, in order. */
  key: readonly string[];
  /** What the table is for, for messages. */
  of: string;
}

export const LIMITS: TableShape = {
  columns: ["name", "key", "shard", "value", "ts"],
  doubles: ["value", "ts"],
  key: ["name", "key", "shard"],
  of: "rate limits",
};

export const OVERRIDES: TableShape = {
  columns: ["name", "key", "rule", "until", "setAt"],
  doubles: ["until", "setAt"],
  key: ["name", "key"],
  of: "overrides of rate limits",
};

/** 64-bit floating point. Other types would round, and then no guard would ever be true. */
const DOUBLE: Record<DialectName, RegExp> = {
  postgresql: /^(float8|double precision)$/i,
  mysql: /^double/i,
  sqlite: /real|floa|doub/i,
};

/** What to do about a missing table, by the way in which the application makes its tables. */
export function missingTableHint({ name, madeBy }: TableName, dialect: DialectName): string {
  if (madeBy === "Prisma") {
    return `the model of table "${name}" must be in the Prisma schema, and migrated`;
  }
  if (madeBy === "Drizzle") {
    return `table "${name}" must be in the Drizzle schema, as in docs/drizzle.md, and pushed or migrated`;
  }
  const folder = dialect === "sqlite" ? "" : `${dialect}/`;
  const isUsual = name === "RateLimit" || name === "RateLimitOverride";
  const renamed = isUsual ? "" : `with "${name}" in place of "RateLimit", `;
  return (
    `create it by the SQL in node_modules/trpc-rate-limit/prisma/${folder}migrations, ${renamed}` +
    "or by a migration of your own with the same columns"
  );
}

/** What to do about a table of the package's whose columns have other names. */
function columnsHint({ madeBy }: TableName): string {
  if (madeBy === "Prisma") return "take @map off its fields, and migrate";
  if (madeBy === "Drizzle") {
    return (
      "name its columns in the Drizzle schema, as in docs/drizzle.md, because `casing` renames those " +
      'without a name of their own: setAt: doublePrecision("setAt"). Then push or migrate'
    );
  }
  return (
    "rename the columns, or add them, as in the package's migrations. " +
    "Prisma's @map and Drizzle's `casing` give columns other names"
  );
}

/**
 * @param isAlone whether the connection runs single statements, and no transaction of the application.
 * @returns what the database reports as its version.
 * @throws EngineError
 * @throws TableError
 */
export async function checkTable(
  dialect: DialectName,
  connection: SqlConnection,
  table: TableName,
  clock: DatabaseClock,
  shape: TableShape = LIMITS,
  isAlone = true,
): Promise<string> {
  const mark = dialect === "mysql" ? "`" : '"';
  const report = `${REPORT[dialect]} AS ${mark}version${mark}`;
  const query: Query = (text, params) =>
    clock.query((withClock) => {
      const columns = withClock ? `${report}, ${CLOCK[dialect]}` : report;
      return connection.query(text.replace("{more}", columns), params);
    });
  const found = await LOOK_UP[dialect](query, table, shape, isAlone).catch(
    async (error: unknown) => {
      // Another engine may not know the catalogs of the one whose language it speaks, and an old
      // SQLite lacks what it is asked for.
      if (error instanceof TableError) throw error;
      const asked = `SELECT ${VERSION[dialect]} AS ${mark}version${mark}`;
      const rows = await connection.query(asked, []).catch(() => []);
      checkEngine(dialect, String(rows[0]?.["version"]));
      throw error;
    },
  );
  if (found.version !== undefined) checkEngine(dialect, found.version);
  checkColumns(dialect, table, found, shape);
  return found.version ?? "";
}

function checkColumns(
  dialect: DialectName,
  table: TableName,
  { columns, lacksKey, searched, elsewhere }: FoundTable,
  shape: TableShape,
): void {
  const shown = `table "${table.name}"`;
  if (columns.length === 0) {
    const hint =
      elsewhere.length === 0
        ? missingTableHint(table, dialect)
        : `there is one in ${elsewhere.join(", ")}: name its schema by @@schema on the model, by ` +
          "the adapter's or the store's option schema, or add it to the search_path";
    throw new TableError(
      elsewhere.length === 0 ? "missing" : "elsewhere",
      `${shown} does not exist in ${searched}`,
      hint,
    );
  }
  const missing = shape.columns.filter((name) => !columns.some((column) => column.name === name));
  const others = columns.filter(({ name }) => !shape.columns.includes(name));
  if (missing.length > 0 && missing.length < shape.columns.length / 2) {
    const found =
      others.length === 0 ? "" : `; it has ${others.map(({ name }) => name).join(", ")}`;
    throw new TableError(
      "columns",
      `${shown} in ${searched} has no column ${missing.join(", ")}${found}`,
      columnsHint(table),
    );
  }
  if (missing.length > 0) {
    throw new TableError(
      "foreign",
      `${shown} in ${searched} is not a table of ${shape.of}: it has no column ` +
        `${missing.join(", ")}; another package may use this name, so give the model of the ` +
        "limits another one, and name it by the option model (or table); if the table is yours, " +
        columnsHint(table),
    );
  }
  for (const { name, type, collation, folds } of columns) {
    if (shape.doubles.includes(name) && !DOUBLE[dialect].test(type)) {
      throw new TableError(
        "type",
        `column ${name} of ${shown} has the type ${type}; it must be a double`,
      );
    }
    if ((name === "name" || name === "key") && folds) {
      throw new TableError(
        "collation",
        `column ${name} of table ${table.name} has the collation ${collation}, under which ` +
          "different keys are one bucket; give it a binary one, as in the package's migrations",
      );
    }
  }
  if (lacksKey !== undefined) {
    throw new TableError(
      "key",
      `${shown} has no ${lacksKey} on exactly (${shape.key.join(", ")}), without which a bucket could ` +
        `have several rows; delete its rows, and ADD PRIMARY KEY (${shape.key.join(", ")}), as in the ` +
        "package's migrations",
    );
  }
}

/**
 * The condition, on a table `k`, that it has a unique index on these columns, in any order. Views
 * and foreign tables show none of theirs.
 */
const hasKey = (key: readonly string[]) => `(k.relkind IN ('v', 'f') OR EXISTS (
  SELECT 1 FROM pg_index AS u WHERE u.indrelid = k.oid AND u.indisunique AND u.indisvalid
    AND u.indimmediate AND u.indpred IS NULL AND u.indnkeyatts = ${key.length} AND ${key.length} = (
      SELECT count(*) FROM pg_attribute AS p WHERE p.attrelid = k.oid
        AND p.attnum = ANY (u.indkey) AND p.attname IN ('${key.join("', '")}'))))`;

/** The columns of the primary key of a table `c`, in order. Parts of columns show their length. */
const PRIMARY_KEY =
  "SELECT GROUP_CONCAT(CONCAT(s.COLUMN_NAME, COALESCE(s.SUB_PART, '')) ORDER BY s.SEQ_IN_INDEX) " +
  "FROM information_schema.STATISTICS AS s WHERE s.TABLE_SCHEMA = c.TABLE_SCHEMA " +
  "AND s.TABLE_NAME = c.TABLE_NAME AND s.INDEX_NAME = 'PRIMARY'";

/** @param text with `{more}` where the columns of the version and the clock stand. */
type Query = (text: string, params: unknown[]) => Promise<SqlRow[]>;

type LookUp = (
  query: Query,
  table: TableName,
  shape: TableShape,
  isAlone: boolean,
) => Promise<FoundTable>;

const LOOK_UP: Record<DialectName, LookUp> = {
  async postgresql(query, table, { key }) {
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
    const encoding = rows[0]?.["encoding"];
    if (typeof encoding === "string" && !/^utf-?8$/i.test(encoding)) {
      throw new TableError(
        "charset",
        `the database has the encoding ${encoding}; a key with a character that it lacks would fail ` +
          "the calls beside it, so keep the limits in a database with the encoding UTF8",
      );
    }
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
      elsewhere: distinct(rows.map((row) => `schema "${String(row["schema"])}"`)),
    };
  },

  async mysql(query, { name, schema = null }, { key }, isAlone) {
    const rows = await query(
      "SELECT c.COLUMN_NAME AS `name`, c.DATA_TYPE AS `type`, c.COLLATION_NAME AS `collation`, " +
        "@@character_set_client AS `sent`, @@character_set_results AS `received`, " +
        `@@character_set_connection AS \`compared\`, ${SETTING_COLUMNS}, ` +
        `(${PRIMARY_KEY}) AS \`primary\`, {more} FROM information_schema.COLUMNS AS c ` +
        "WHERE c.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND c.TABLE_NAME = ?",
      [BACKSLASH, schema, name],
    );
    checkSettings(rows[0], isAlone);
    const { sent, received, compared, primary } = rows[0] ?? {};
    for (const charset of [sent, received, compared]) {
      if (typeof charset === "string" && charset !== "utf8mb4") {
        throw new TableError(
          "charset",
          `the connection has the character set ${charset}, in which different keys can be the ` +
            "same; connect with utf8mb4, the default of mysql2 and mariadb",
        );
      }
    }
    const columns = rows.map((row) => {
      const column = columnOf(row);
      return { ...column, folds: column.collation?.endsWith("_bin") === false };
    });
    return {
      columns,
      lacksKey: primary === key.join(",") ? undefined : "primary key",
      version: versionOf(rows),
      searched: "this database",
      elsewhere: [],
    };
  },

  async sqlite(query, { name }) {
    const rows = await query(
      `SELECT c."name", c."type", x."coll" AS "collation", {more}
       FROM pragma_table_info(?) AS c
       LEFT JOIN pragma_index_list(?) AS l ON l."origin" = 'pk'
       LEFT JOIN pragma_index_xinfo(l."name") AS x ON x."name" = c."name" AND x."key" = 1`,
      [name, name],
    );
    const columns = rows.map((row) => {
      const column = columnOf(row);
      return { ...column, folds: !["BINARY", undefined].includes(column.collation) };
    });
    // It has answered, so it is no old one.
    return { columns, version: undefined, searched: "this database", elsewhere: [] };
  },
};

function versionOf([row]: readonly SqlRow[]): string | undefined {
  return row === undefined ? undefined : String(row["version"]);
}

/** It is not known if no schema has such a table. */
function shownPath(row: SqlRow | undefined): string {
  return row === undefined ? "" : ` (${String(row["searched"])})`;
}

function columnOf({ name, type, collation }: SqlRow): Omit<Column, "folds"> {
  const collationName = typeof collation === "string" ? collation : undefined;
  return { name: String(name), type: String(type), collation: collationName };
}

function distinct(items: readonly string[]): string[] {
  return [...new Set(items)];
}
