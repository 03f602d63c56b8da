/** Opens SQLite without an ORM: through libsql, better-sqlite3, node:sqlite or bun:sqlite. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type Config, createClient } from "@libsql/client";
import { type SqliteDatabaseLike, sqliteStore, type RateLimitStore } from "../../server/index.js";
import type { OpenedStore, OpenStoreOptions } from "./open-store.js";

/** How long a statement waits for other connections, ms. The wait blocks this whole process. */
const TIMEOUT = 100;

const BETTER_SQLITE3 = fileURLToPath(new URL("../better-sqlite3/package.json", import.meta.url));
/** Whether better-sqlite3 was compiled on this machine. */
export const hasBetterSqlite3 = existsSync(
  new URL("../better-sqlite3/node_modules/better-sqlite3/build/Release/", import.meta.url),
);
/** The message of a test that is skipped without better-sqlite3. */
export const NO_BETTER_SQLITE3 = "needs better-sqlite3: npm run install:test-projects";

/** The connection of a synchronous client. Each client has its own property for an open transaction. */
export interface SynchronousDatabase extends SqliteDatabaseLike {
  inTransaction?: boolean;
  isTransaction?: boolean;
  prepare(text: string): {
    all(...params: unknown[]): unknown[];
    run(...params: unknown[]): { changes: number | bigint };
    iterate(...params: unknown[]): Iterable<unknown>;
  };
}

export type SqliteClientName = "libsql" | "better-sqlite3" | "node:sqlite" | "bun:sqlite";

export interface SynchronousOptions {
  /** Whether integers are read as bigints, which some applications choose. */
  bigints?: boolean;
}

export function openSynchronous(
  name: Exclude<SqliteClientName, "libsql">,
  url: string,
  { bigints = false }: SynchronousOptions = {},
): SynchronousDatabase {
  const path = url.replace(/^file:/, "");
  if (name === "node:sqlite") {
    const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite") as {
      DatabaseSync: new (path: string, options: object) => SynchronousDatabase;
    };
    return new DatabaseSync(path, { timeout: TIMEOUT, readBigInts: bigints });
  }
  if (name === "bun:sqlite") {
    const { Database } = createRequire(import.meta.url)("bun:sqlite") as {
      Database: new (path: string, options: object) => SynchronousDatabase;
    };
    const db = new Database(path, { readwrite: true, safeIntegers: bigints });
    db.exec(`PRAGMA busy_timeout = ${TIMEOUT}`);
    return db;
  }
  const Database = createRequire(BETTER_SQLITE3)("better-sqlite3") as new (
    path: string,
    options: object,
  ) => SynchronousDatabase & { defaultSafeIntegers(toggle: boolean): void };
  const db = new Database(path, { timeout: TIMEOUT });
  db.defaultSafeIntegers(bigints);
  return db;
}

export function openLibsql(url: string, { intMode = "number" }: Pick<Config, "intMode"> = {}) {
  return createClient({ url, intMode, timeout: TIMEOUT });
}

const synchronous =
  (name: Exclude<SqliteClientName, "libsql">) =>
  (url: string, { isolation }: OpenStoreOptions): OpenedStore => {
    const open = () => openSynchronous(name, url);
    const db = open();
    const store = sqliteStore(db, { isolation, open });
    return {
      store: store as RateLimitStore,
      run: async (sql) => db.prepare(sql).all(),
      close: async () => void db.close(),
    };
  };

export const sqliteOpeners = {
  libsql(url: string, { isolation }: OpenStoreOptions): OpenedStore {
    const client = openLibsql(url);
    return {
      store: sqliteStore(client, { isolation }) as RateLimitStore,
      run: (sql) => client.execute(sql),
      close: async () => client.close(),
    };
  },
  "better-sqlite3": synchronous("better-sqlite3"),
  "node:sqlite": synchronous("node:sqlite"),
  "bun:sqlite": synchronous("bun:sqlite"),
};
