/** Opens a store of each kind on a database's URL. Usable outside the test runner too. */
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient as PostgresClient } from "../../prisma/generated/postgresql/client.js";
import { pgStore, prismaStore, type RateLimitStore } from "../../server/index.js";
import { bunOpeners } from "./open-bun.js";
import { connectors } from "./clients.js";
import { openMysql8 } from "./mysql-8.js";
import { connectMariadb, openMariadb, openMysql2 } from "./open-mysql.js";
import { openRedisClient } from "../redis/open-by-url.js";
import { openRedis } from "./open-redis.js";
import { sqliteOpeners } from "./open-sqlite.js";
import { throughPrisma6 } from "./prisma-6.js";
import { throughPrisma8 } from "./prisma-8.js";
import { throughBetterSqlite3 } from "./prisma-better-sqlite3.js";
import { throughRustEngine } from "./rust-engine.js";
import { connectPool } from "./connect-pool.js";
import { ormOpeners } from "./open-orm.js";

export { connectPool };

export interface OpenedStore {
  store: RateLimitStore;
  /** Runs a statement and ignores its result, for example to connect. */
  run(sql: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  isolation?: "serializable" | undefined;
  /** The size of the pool. @default the driver's */
  connections?: number | undefined;
}

export type Open = (url: string, options: OpenStoreOptions) => OpenedStore;

const throughPrisma =
  (provider: keyof typeof connectors, hasPool = false): Open =>
  (url, { isolation, connections }) => {
    const pool = hasPool ? openPool(provider, url, connections) : undefined;
    const prisma = connectors[provider](url, connections);
    return {
      store: prismaStore(prisma, { isolation, ...(pool && { pool }) }) as RateLimitStore,
      run: async (sql) => prisma.$queryRawUnsafe(sql),
      async close() {
        await pool?.end();
        await prisma.$disconnect();
      },
    };
  };

function openPool(provider: keyof typeof connectors, url: string, connections?: number) {
  if (provider !== "mysql") return connectPool(url, connections);
  return connectMariadb(url, connections === undefined ? {} : { connectionLimit: connections });
}

/** The store finds the pool in the adapter. */
const throughPoolOfPrisma: Open = (url, { isolation, connections }) => {
  const pool = connectPool(url, connections);
  const prisma = new PostgresClient({ adapter: new PrismaPg(pool) });
  return {
    store: prismaStore(prisma, { isolation }) as RateLimitStore,
    run: async (sql) => prisma.$queryRawUnsafe(sql),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
};

const openers = {
  sqlite: throughPrisma("sqlite"),
  postgresql: throughPrisma("postgresql"),
  mysql: throughPrisma("mysql"),
  /** Prisma for transactions, and a pool for all other calls. */
  "pg and prisma": throughPrisma("postgresql", true),
  "pool of prisma": throughPoolOfPrisma,
  pg(url, { isolation, connections }) {
    const pool = connectPool(url, connections);
    return {
      store: pgStore(pool, { isolation }) as RateLimitStore,
      run: (sql) => pool.query(sql),
      close: () => pool.end(),
    };
  },
  mysql2: openMysql2,
  mariadb: openMariadb,
  "mariadb and prisma": throughPrisma("mysql", true),
  /** MariaDB that stands for MySQL 8. */
  "mysql 8": openMysql8,
  /** libsql, better-sqlite3, node:sqlite and bun:sqlite. */
  ...sqliteOpeners,
  "prisma better-sqlite3": throughBetterSqlite3,
  "prisma 6 sqlite": throughPrisma6("sqlite"),
  "prisma 6 postgresql": throughPrisma6("postgresql"),
  "prisma 6 mysql": throughPrisma6("mysql"),
  "prisma 6 rust": throughRustEngine,
  "prisma 8": throughPrisma8,
  redis: openRedis,
  "redis client": openRedisClient,
  ...ormOpeners,
  ...bunOpeners,
} satisfies Record<string, Open>;

/** A driver, and the database that it connects to. */
export type StoreKind = keyof typeof openers;

export function openStore(
  kind: StoreKind,
  url: string,
  options: OpenStoreOptions = {},
): OpenedStore {
  return openers[kind](url, options);
}
