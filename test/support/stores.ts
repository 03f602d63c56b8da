/**
 * Opens a new store of each kind, for tests that run on all of them. MySQL is included if TEST_MYSQL_URL
 * is set, and Redis if a server answers. Otherwise `test/server/store/sql/mysql/mysql.test.ts` and
 * `test/server/redis/redis-store.test.ts` report a skipped test.
 */
import { memoryStore, type RateLimitStore } from "../../server/index.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "./database.js";
import { type KeptDatabase, keptMysql, keptPostgres } from "./kept-databases.js";
import { openStore, type StoreKind } from "./open-store.js";
import { createRedisRows, redisUrl } from "./redis-rows.js";

export interface OpenStore {
  store: RateLimitStore;
  /** A second store on the same rows, as in another process. `memory` returns the same store. */
  peer: RateLimitStore;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface OpenOptions {
  /** Gives the test a database of its own, because a call may still write to it at the end of the test. */
  isNew?: boolean;
}

type NamedStore = [name: string, open: (options?: OpenOptions) => Promise<OpenStore>];

/** The stores on which a change breaks first. `npm test` runs on them. */
const few: NamedStore[] = [
  [
    "memory",
    async () => {
      const store = memoryStore() as RateLimitStore;
      return { store, peer: store, async [Symbol.asyncDispose]() {} };
    },
  ],
  ["PostgreSQL through pg", (options) => onDatabase("pg", openPostgres(options))],
];

/** A store on each other database. `npm run test:stores` runs on them. */
const databases: NamedStore[] = [
  ["SQLite", () => onDatabase("sqlite", createSqlite())],
  ["PostgreSQL through Prisma", (options) => onDatabase("postgresql", openPostgres(options))],
  ...(mysqlUrl === undefined
    ? []
    : ([
        ["MySQL or MariaDB", (options) => onDatabase("mysql", openMysql(options))],
      ] satisfies NamedStore[])),
];

/** Stores on other drivers of the same databases. `npm run test:drivers` runs on them. */
const drivers: NamedStore[] = [
  [
    "PostgreSQL through Prisma and a pool",
    (options) => onDatabase("pg and prisma", openPostgres(options)),
  ],
  [
    "PostgreSQL through Drizzle",
    (options) => onDatabase("drizzle postgres-js", openPostgres(options)),
  ],
  ["SQLite through libsql", () => onDatabase("libsql", createSqlite())],
  ...(mysqlUrl === undefined
    ? []
    : ([
        ["MySQL or MariaDB through mysql2", (options) => onDatabase("mysql2", openMysql(options))],
        [
          "MySQL or MariaDB through mariadb",
          (options) => onDatabase("mariadb", openMysql(options)),
        ],
      ] satisfies NamedStore[])),
];

const redis: NamedStore[] = redisUrl === undefined ? [] : [["Redis", onRedis]];

/** Set by the projects of Vitest. */
const chosen = process.env["TEST_STORES"];
const isDatabases = chosen === "databases";

export const stores = isDatabases ? databases : chosen === "drivers" ? drivers : few;
/** Includes the Redis store, which has no transactions and prunes nothing. */
export const storesAndRedis = isDatabases ? [...databases, ...redis] : stores;

function openPostgres({ isNew = false }: OpenOptions = {}) {
  return isNew ? createPostgres() : keptPostgres();
}

function openMysql({ isNew = false }: OpenOptions = {}) {
  return isNew ? createMysql() : keptMysql();
}

async function onDatabase(
  kind: StoreKind,
  opening: Promise<TestDatabase | KeptDatabase>,
): Promise<OpenStore> {
  const database = await opening;
  const opened = [openStore(kind, database.url), openStore(kind, database.url)] as const;
  return {
    store: opened[0].store,
    peer: opened[1].store,
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map(({ close }) => close()));
      await database[Symbol.asyncDispose]();
    },
  };
}

async function onRedis(): Promise<OpenStore> {
  const rows = createRedisRows();
  return {
    store: rows.open(),
    peer: rows.open(),
    [Symbol.asyncDispose]: () => rows[Symbol.asyncDispose](),
  };
}
