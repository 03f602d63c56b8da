/**
 * A client that behaves like Prisma 6 with its Rust engine, on PostgreSQL. That engine is a separate
 * download, and only its source was read. This client does the same through `pg`: it tells the database
 * the type of each parameter, which is the type of its value, and its errors carry the database's code.
 */
import type pg from "pg";
import type { PrismaLike, RateLimitStore } from "../../server/index.js";
import { prismaStore } from "../../server/index.js";
import { connectPool, type OpenedStore, type OpenStoreOptions } from "./open-store.js";

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `${typeOf(value[0] ?? "")}[]`;
  if (typeof value === "number") return Number.isInteger(value) ? "bigint" : "float8";
  return "text";
}

async function run(client: pg.Pool | pg.PoolClient, text: string, params: readonly unknown[]) {
  const typed = text.replace(/\$(\d+)/g, (found, index) => {
    return `(${found}::${typeOf(params[Number(index) - 1])})`;
  });
  try {
    return await client.query(typed, params as unknown[]);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const shown = `Raw query failed. Code: \`${code}\`. Message: \`${message}\``;
    throw Object.assign(new Error(shown), { code: "P2010", meta: { code, message } });
  }
}

const rawOf = (client: pg.Pool | pg.PoolClient) => ({
  $queryRawUnsafe: async (text: string, ...params: unknown[]) =>
    (await run(client, text, params)).rows as unknown[],
  $executeRawUnsafe: async (text: string, ...params: unknown[]) =>
    (await run(client, text, params)).rowCount ?? 0,
});

const LEVELS = { ReadCommitted: "READ COMMITTED", Serializable: "SERIALIZABLE" };

export function createRustEngine(pool: pg.Pool): PrismaLike {
  const client = {
    _clientVersion: "6.19.3",
    _activeProvider: "postgresql",
    _runtimeDataModel: { models: { RateLimit: {} } },
    ...rawOf(pool),
    async $transaction(
      body: (tx: ReturnType<typeof rawOf>) => Promise<unknown>,
      { isolationLevel }: { isolationLevel: keyof typeof LEVELS },
    ) {
      const connection = await pool.connect();
      try {
        await run(connection, `BEGIN ISOLATION LEVEL ${LEVELS[isolationLevel]}`, []);
        const result = await body(rawOf(connection));
        await run(connection, "COMMIT", []);
        return result;
      } catch (error) {
        await connection.query("ROLLBACK");
        throw error;
      } finally {
        connection.release();
      }
    },
  };
  return client as PrismaLike;
}

export const throughRustEngine = (
  url: string,
  { isolation, connections }: OpenStoreOptions,
): OpenedStore => {
  const pool = connectPool(url, connections);
  return {
    store: prismaStore(createRustEngine(pool), { isolation }) as RateLimitStore,
    run: (sql) => pool.query(sql),
    close: () => pool.end(),
  };
};
