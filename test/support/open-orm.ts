/** Stores through Drizzle and Kysely, on each driver. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { createClient } from "@libsql/client";
import { type SQLWrapper, sql } from "drizzle-orm";
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import {
  CompiledQuery,
  Kysely,
  MysqlDialect,
  PostgresDialect,
  type SqliteDatabase,
  SqliteDialect,
} from "kysely";
import mysql from "mysql2";
import postgres from "postgres";
import { drizzleStore } from "../../server/drizzle/index.js";
import { kyselyStore, type RateLimitTable } from "../../server/kysely/index.js";
import type { RateLimitStore } from "../../server/index.js";
import { connectPool } from "./connect-pool.js";
import type { OpenedStore, OpenStoreOptions } from "./open-store.js";

/** The tables of an application, in the shape that Kysely wants. */
export interface KyselyTables {
  RateLimit: RateLimitTable;
}

export function connectPostgresJs(url: string, connections = 10): postgres.Sql {
  return postgres(url, { max: connections, onnotice: () => {} });
}

export function connectMysql2(url: string, connections = 10): mysql.Pool {
  return mysql.createPool({ uri: url, connectionLimit: connections });
}

/**
 * A connection to a SQLite file. The connection does not wait for locks, because a wait would block this
 * process.
 */
export function connectLibsql(url: string) {
  return createClient({ url });
}

/** better-sqlite3 has a project of its own, because it is compiled at its installation. */
const BETTER_SQLITE3 = fileURLToPath(new URL("../better-sqlite3/", import.meta.url));
export const hasBetterSqlite3 = existsSync(`${BETTER_SQLITE3}node_modules`);

/** Does not wait for locks: see `connectLibsql`. */
export function connectBetterSqlite3(url: string): SqliteDatabase {
  const Database = createRequire(BETTER_SQLITE3)("better-sqlite3") as new (
    path: string,
    options: { timeout: number },
  ) => SqliteDatabase;
  return new Database(url.replace(/^file:/, ""), { timeout: 0 });
}

export function connectKysely(
  kind: "postgresql" | "mysql" | "sqlite",
  url: string,
  connections?: number,
): Kysely<KyselyTables> {
  const dialects = {
    postgresql: () => new PostgresDialect({ pool: connectPool(url, connections) }),
    mysql: () => new MysqlDialect({ pool: connectMysql2(url, connections) }),
    sqlite: () => new SqliteDialect({ database: connectBetterSqlite3(url) }),
  };
  return new Kysely({ dialect: dialects[kind]() });
}

type Open = (url: string, options: OpenStoreOptions) => OpenedStore;

const throughKysely =
  (kind: "postgresql" | "mysql" | "sqlite"): Open =>
  (url, { isolation, connections }) => {
    const db = connectKysely(kind, url, connections);
    return {
      store: kyselyStore(db, { isolation }) as RateLimitStore,
      run: (text) => db.executeQuery(CompiledQuery.raw(text)),
      close: () => db.destroy(),
    };
  };

const run = (db: { execute(query: SQLWrapper): PromiseLike<unknown> }) => async (text: string) =>
  db.execute(sql.raw(text));

export const ormOpeners = {
  "drizzle pg"(url, { isolation, connections }) {
    const pool = connectPool(url, connections);
    const db = drizzlePg({ client: pool });
    const store = drizzleStore(db, { isolation }) as RateLimitStore;
    return { store, run: run(db), close: () => pool.end() };
  },
  "drizzle postgres-js"(url, { isolation, connections }) {
    const client = connectPostgresJs(url, connections);
    const db = drizzlePostgresJs({ client });
    const store = drizzleStore(db, { isolation }) as RateLimitStore;
    return { store, run: run(db), close: () => client.end() };
  },
  "drizzle mysql2"(url, { isolation, connections }) {
    const pool = connectMysql2(url, connections);
    const db = drizzleMysql({ client: pool });
    const store = drizzleStore(db, { isolation }) as RateLimitStore;
    return { store, run: run(db), close: () => pool.promise().end() };
  },
  "drizzle libsql"(url, { isolation }) {
    const client = connectLibsql(url);
    const db = drizzleLibsql({ client });
    const store = drizzleStore(db, { isolation }) as RateLimitStore;
    return { store, run: (text) => client.execute(text), close: async () => client.close() };
  },
  "kysely pg": throughKysely("postgresql"),
  "kysely mysql2": throughKysely("mysql"),
  "kysely sqlite": throughKysely("sqlite"),
} satisfies Record<string, Open>;
