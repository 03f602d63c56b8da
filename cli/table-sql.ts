/** The SQL of the table of limits: the migrations of the package, which are its only source. */
import { DIALECTS } from "../server/store/sql/dialects.js";
import type { DialectName } from "../server/store/sql/driver.js";
import { overridesName } from "../server/store/override-table.js";
import { quoted, quotedTable, type TableName } from "../server/store/sql/sql.js";
import mysql from "../prisma/mysql/migrations/20261121000000_rate_limit/migration.sql?raw";
import postgresql from "../prisma/postgresql/migrations/20261121000000_rate_limit/migration.sql?raw";
import mysqlOverrides from "../prisma/mysql/migrations/20261123000000_rate_limit_override/migration.sql?raw";
import postgresqlOverrides from "../prisma/postgresql/migrations/20261123000000_rate_limit_override/migration.sql?raw";
import sqliteOverrides from "../prisma/migrations/20261123000000_rate_limit_override/migration.sql?raw";
import sqlite from "../prisma/migrations/20261121000000_rate_limit/migration.sql?raw";
import { closeTablesSql } from "./visitors-sql.js";

const SQL: Record<DialectName, readonly [limits: string, overrides: string]> = {
  mysql: [mysql, mysqlOverrides],
  postgresql: [postgresql, postgresqlOverrides],
  sqlite: [sqlite, sqliteOverrides],
};

interface TableSqlOptions {
  /** The table of the limits. @default "RateLimit" */
  table?: TableName;
  /** On PostgreSQL, the roles of visitors, which get no right. @default none */
  closedTo?: readonly string[];
}

export function tableSql(dialect: DialectName, options: TableSqlOptions = {}): string {
  const { table = { name: "RateLimit" }, closedTo = [] } = options;
  const [limits, overrides] = SQL[dialect].map((sql) => {
    return sql.replace(/^-- CreateTable\n/, "").trimEnd();
  });
  const note = "-- What counts instead of a limit; only a limiter with `overrides: true` uses it.";
  const text = `-- The tables of trpc-rate-limit.\n${limits}\n\n${note}\n${overrides}\n`;
  const { mark } = DIALECTS[dialect];
  const named = withNames(text, table, mark);
  if (closedTo.length === 0 || dialect !== "postgresql") return named;
  return `${named}\n${closeTablesSql(bothTables(table), closedTo)}\n`;
}

const beside = (limits: TableName) => ({ ...limits, name: overridesName(limits.name) });

/** Both tables, in quotes. */
export function bothTables(limits: TableName, mark?: Mark): string[] {
  return [limits, beside(limits)].map((table) => quotedTable(table, mark));
}

type Mark = (typeof DIALECTS)[DialectName]["mark"];

const NAME = /["`]RateLimit(Override)?(_pkey)?["`]/g;

function withNames(text: string, limits: TableName, mark: Mark): string {
  return text.replace(NAME, (_, isOfOverrides?: string, key?: string) => {
    const table = isOfOverrides ? beside(limits) : limits;
    // The name of a key has no schema: a key is in the schema of its table.
    return key ? quoted(table.name + key, mark) : quotedTable(table, mark);
  });
}

/** The path of a migration of the limits, in an application that has installed the package. */
export function packagedSql(dialect: DialectName, migration = "20261121000000_rate_limit"): string {
  const { migrations } = DIALECTS[dialect].catalog;
  return `node_modules/trpc-rate-limit/${migrations}/${migration}/migration.sql`;
}

/** The same path for the table of overrides. */
export function packagedOverridesSql(dialect: DialectName): string {
  return packagedSql(dialect, "20261123000000_rate_limit_override");
}

/**
 * A line for a shell that runs the SQL of a file. Words in capitals stand for values that only the
 * application's author knows.
 *
 * @param envFile has `DATABASE_URL`, which the shell lacks.
 */
export function commandOf(dialect: DialectName, file: string, envFile: string | undefined): string {
  if (dialect === "postgresql") {
    const load = envFile === undefined ? "" : `set -a; . ./${envFile}; set +a; `;
    // With an empty URL, psql would make the table in a database of its own choice.
    return `${load}psql "\${DATABASE_URL:?}" -f ${file}`;
  }
  if (dialect === "mysql") return `mysql -h HOST -u USER -p DATABASE < ${file}`;
  return `sqlite3 DATABASE_FILE < ${file}`;
}

/** Whether a text has the statement that makes the table. */
export function makesTable(text: string): boolean {
  return /create\s*table[^;]{0,80}\bRateLimit\b[^;]*\bshard\b/i.test(text);
}
