/** Opens a store of each kind on a database's URL. Usable outside the test runner too. */
import pg from "pg";
import { pgStore, prismaStore, type RateLimitStore } from "../../server/index.js";
import { connectors, type Provider } from "./clients.js";

/** `pg`: PostgreSQL without Prisma. `pg and prisma`: Prisma for transactions, a pool for the rest. */
export type StoreKind = Provider | "pg" | "pg and prisma";

export interface OpenedStore {
  store: RateLimitStore;
  /** Runs a statement and ignores its result, for example to connect. */
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
  // An idle connection emits an error when the server closes it. Ignore it.
  pool.on("error", () => {});
  return pool;
}
