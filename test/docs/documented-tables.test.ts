/** The tables that docs/drizzle.md and docs/kysely.md tell people to copy. */
import type { Kysely } from "kysely";
import { is, type Table } from "drizzle-orm";
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { getTableConfig as mysqlConfig, MySqlTable } from "drizzle-orm/mysql-core";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { getTableConfig as pgConfig, PgTable } from "drizzle-orm/pg-core";
import { getTableConfig as sqliteConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { drizzleStore } from "../../server/drizzle/index.js";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../server/index.js";
import { kyselyStore } from "../../server/kysely/index.js";
import { connectPool } from "../support/connect-pool.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../support/database.js";
import { importBlock } from "../support/docs-module.js";
import {
  connectKysely,
  connectLibsql,
  connectMysql2,
  hasBetterSqlite3,
  type KyselyTables,
} from "../support/open-orm.js";

const providers = ["postgresql", ...(mysqlUrl ? (["mysql"] as const) : []), "sqlite"] as const;
type Provider = "postgresql" | "mysql" | "sqlite";

const create: Record<Provider, () => Promise<TestDatabase>> = {
  postgresql: () => createPostgres(),
  mysql: () => createMysql(),
  sqlite: createSqlite,
};

const quote = (provider: Provider, name: string) =>
  provider === "mysql" ? `\`${name}\`` : `"${name}"`;

/** The columns of the table as the database describes them. */
const DESCRIBE: Record<Provider, string> = {
  postgresql: `SELECT column_name, data_type, is_nullable, column_default, collation_name
    FROM information_schema.columns WHERE table_name = 'RateLimit' ORDER BY ordinal_position`,
  mysql: `SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLLATION_NAME, COLUMN_KEY
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'RateLimit'
    ORDER BY ORDINAL_POSITION`,
  sqlite: `SELECT name, lower(type) AS type, "notnull", replace(dflt_value, '"', '''') AS def, pk
    FROM pragma_table_info('RateLimit')`,
};

/** Resolves with a database without the table, and with how the migrations had made it. */
async function withoutTable(provider: Provider) {
  const database = await create[provider]();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const describeTable = async () =>
    (await database.prisma.$queryRawUnsafe<object[]>(DESCRIBE[provider])).map(Object.values);
  const expected = await describeTable();
  for (const name of ["RateLimit", "RateLimitOverride"]) {
    await database.prisma.$executeRawUnsafe(`DROP TABLE ${quote(provider, name)}`);
  }
  return { database, expected, describeTable };
}

/** The statement that a migration of Drizzle has. */
function createTable(provider: Provider, table: Table): string {
  const config = is(table, PgTable)
    ? pgConfig(table)
    : is(table, MySqlTable)
      ? mysqlConfig(table)
      : sqliteConfig(table as SQLiteTable);
  const columns = config.columns.map((column) => {
    const { name, hasDefault } = column;
    const value =
      typeof column.default === "string" ? `'${column.default}'` : String(column.default);
    const fallback = hasDefault ? `DEFAULT ${value}` : "";
    return `${quote(provider, name)} ${column.getSQLType()} ${column.notNull ? "NOT NULL" : ""} ${fallback}`;
  });
  const key = config.primaryKeys[0]!.columns.map(({ name }) => quote(provider, name));
  return `CREATE TABLE ${quote(provider, config.name)} (${columns.join(", ")}, PRIMARY KEY (${key.join(", ")}))`;
}

async function useOverrides(store: RateLimitStore): Promise<void> {
  const limits = { few: { kind: "token bucket", rate: 10, period: HOUR } } as const;
  const limiter = createRateLimiter({ store, limits, overrides: true });
  await limiter.overrides.set("few", { key: "ann", blocked: true });
  const answers = ["ann", "Ann"].map((key) => limiter.limit("few", { key }));
  expect((await Promise.all(answers)).map(({ ok }) => ok)).toEqual([false, true]);
}

async function useLimits(store: RateLimitStore): Promise<void> {
  const limiter = createRateLimiter({
    store,
    limits: { few: { kind: "token bucket", rate: 10, period: HOUR } },
  });
  const keys = ["ann", "Ann", "ann "];
  await Promise.all(keys.map((key) => limiter.limit("few", { key, count: 4 })));
  for (const key of keys) {
    expect(Math.floor((await limiter.getValue("few", { key })).value)).toBe(6);
  }
}

describe.each(providers)("the documented table of Drizzle for %s", (provider) => {
  it("is as in the package's migration, and works", async () => {
    const { database, expected, describeTable } = await withoutTable(provider);
    const { rateLimit } = await importBlock<{ rateLimit: Table }>(
      "docs/drizzle.md",
      `db/${provider}/rate-limit.ts`,
    );
    await database.prisma.$executeRawUnsafe(createTable(provider, rateLimit));
    const found = await describeTable();
    expect(found).toEqual(expected);
    const open = {
      postgresql() {
        const pool = connectPool(database.url);
        return { db: drizzlePg(pool), close: () => pool.end() };
      },
      mysql() {
        const pool = connectMysql2(database.url);
        return { db: drizzleMysql({ client: pool }), close: () => pool.promise().end() };
      },
      sqlite() {
        const client = connectLibsql(database.url);
        return { db: drizzleLibsql(client), close: () => client.close() };
      },
    };
    const { db, close } = open[provider]();
    await useLimits(drizzleStore(db, { table: rateLimit }) as RateLimitStore);
    await close();
  });
});

describe.each(providers)("the documented migration of Kysely for %s", (provider) => {
  it.skipIf(provider === "sqlite" && !hasBetterSqlite3)(
    "makes the table of the package's migration, which works (SQLite: if test/better-sqlite3 is installed)",
    async () => {
      const { database, expected, describeTable } = await withoutTable(provider);
      const line = { postgresql: "PostgreSQL", mysql: "MySQL, MariaDB", sqlite: "SQLite" }[
        provider
      ];
      const { up } = await importBlock<{ up(db: Kysely<KyselyTables>): Promise<void> }>(
        "docs/kysely.md",
        "db/migrations/rate-limit.ts",
        (code) =>
          code
            .replaceAll(/^const text/gm, "// const text")
            .replace(new RegExp(`^// (const text = .*; // ${line}$)`, "m"), "$1"),
      );
      const db = connectKysely(provider, database.url);
      onTestFinished(() => db.destroy());
      await up(db);
      const found = await describeTable();
      // On SQLite, "double precision" is another name of REAL.
      const named = (rows: unknown[][]) =>
        rows.map((row) =>
          row.map((each) => (each === "double precision" && provider === "sqlite" ? "real" : each)),
        );
      expect(named(found)).toEqual(named(expected));
      await useLimits(kyselyStore(db) as RateLimitStore);
      await useOverrides(kyselyStore(db) as RateLimitStore);
    },
  );
});
