/** The stores of PostgreSQL, as applications make them, each with a pool of its own. */
import { PrismaPg } from "@prisma/adapter-pg";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import { PrismaClient } from "../../prisma/generated/postgresql/client.js";
import { drizzleStore } from "../../server/drizzle/index.js";
import { pgStore, prismaStore, type RateLimitStore } from "../../server/index.js";
import { kyselyStore } from "../../server/kysely/index.js";

/** The settings of node-postgres that matter when a server goes. */
export type PoolSettings = Pick<
  pg.PoolConfig,
  "max" | "idleTimeoutMillis" | "connectionTimeoutMillis" | "query_timeout"
>;

export interface OpenedStore {
  store: RateLimitStore;
  /** Runs a statement on each pool of the store. */
  run(text: string): Promise<unknown>;
  close(): Promise<unknown>;
}

function openPool(url: string, settings: PoolSettings): pg.Pool {
  return new pg.Pool({ connectionString: url, ...settings });
}

type Open = (
  url: string,
  settings: PoolSettings,
) => Omit<OpenedStore, "store"> & { store: unknown };

export const openers = {
  pgStore(url, settings) {
    const pool = openPool(url, settings);
    return { store: pgStore(pool), run: (text) => pool.query(text), close: () => pool.end() };
  },
  "prismaStore, no pool"(url, settings) {
    const adapter = new PrismaPg({ connectionString: url, ...settings });
    const prisma = new PrismaClient({ adapter });
    const run = async (text: string) => prisma.$queryRawUnsafe(text);
    return { store: prismaStore(prisma), run, close: () => prisma.$disconnect() };
  },
  "prismaStore on a pool"(url, settings) {
    const pool = openPool(url, settings);
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
    const run = (text: string) => pool.query(text);
    return { store: prismaStore(prisma), run, close: () => pool.end() };
  },
  "prismaStore beside a pool"(url, settings) {
    const pool = openPool(url, settings);
    const adapter = new PrismaPg({ connectionString: url, ...settings });
    const prisma = new PrismaClient({ adapter });
    const run = (text: string) => Promise.all([pool.query(text), prisma.$queryRawUnsafe(text)]);
    const close = () => Promise.all([pool.end(), prisma.$disconnect()]);
    return { store: prismaStore(prisma, { pool }), run, close };
  },
  "drizzleStore, node-postgres"(url, settings) {
    const pool = openPool(url, settings);
    const run = (text: string) => pool.query(text);
    return { store: drizzleStore(drizzlePg({ client: pool })), run, close: () => pool.end() };
  },
  "drizzleStore, postgres-js"(url, { max = 10 }) {
    const client = postgres(url, { max, onnotice: () => {} });
    const run = async (text: string) => client.unsafe(text);
    return { store: drizzleStore(drizzlePostgresJs({ client })), run, close: () => client.end() };
  },
  "kyselyStore with its pool"(url, settings) {
    const pool = openPool(url, settings);
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    const run = (text: string) => pool.query(text);
    return { store: kyselyStore(db, { pool }), run, close: () => pool.end() };
  },
  "kyselyStore, no pool"(url, settings) {
    const pool = openPool(url, settings);
    // An idle connection that ends would end the process.
    pool.on("error", () => {});
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    const run = (text: string) => pool.query(text);
    return { store: kyselyStore(db), run, close: () => pool.end() };
  },
} satisfies Record<string, Open>;

export type OpenerName = keyof typeof openers;

export function open(name: OpenerName, url: string, settings: PoolSettings = {}): OpenedStore {
  return openers[name](url, settings) as OpenedStore;
}
