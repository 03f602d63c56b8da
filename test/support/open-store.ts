/** The store of each kind of client on a database's URL; also for processes of their own. */
import pg from "pg";
import { pgStore, prismaStore, type RateLimitStore } from "../../server/index.js";
import { connectors, type Provider } from "./clients.js";

/** `pg`: PostgreSQL without Prisma. `pg and prisma`: Prisma's transactions, the pool for the rest. */
export type StoreKind = Provider | "pg" | "pg and prisma";

export interface OpenedStore {
  store: RateLimitStore;
  /** Runs a statement, of which nothing is wanted back: to connect, for one. */
  run(sql: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  isolation?: "serializable" | undefined;
  /** The size of the pool. @default the driver's */
  connections?: number;
}

export function openStore(
  kind: StoreKind,
  url: string,
  { isolation, connections }: OpenStoreOptions = {},
): OpenedStore {
  const options = isolation === undefined ? {} : { isolation };
  if (kind === "pg") {
    const pool = connectPool(url, connections);
    return {
      store: pgStore(pool, options) as RateLimitStore,
      run: (sql) => pool.query(sql),
      close: () => pool.end(),
    };
  }
  const pool = kind === "pg and prisma" ? connectPool(url, connections) : undefined;
  const prisma = connectors[kind === "pg and prisma" ? "postgresql" : kind](url, connections);
  return {
    store: prismaStore(prisma, { ...options, ...(pool && { pool }) }) as RateLimitStore,
    run: async (sql) => prisma.$queryRawUnsafe(sql),
    async close() {
      await pool?.end();
      await prisma.$disconnect();
    },
  };
}

export function connectPool(url: string, connections?: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    ...(connections !== undefined && { max: connections }),
  });
  // A server that goes away is an event of connections that nobody uses.
  pool.on("error", () => {});
  return pool;
}
