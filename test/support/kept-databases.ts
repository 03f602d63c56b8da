/**
 * Databases that a test leaves without rows to the next test in its process. Creating a database takes
 * longer than most tests. These databases are for tests that change only rows.
 */
import { inject } from "vitest";
import { connectMysql } from "./clients.js";
import { createMysql, createPostgres, oneConnection, type TestDatabase } from "./database.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The beginning of the databases' names. The test run deletes its databases at its end. */
    keptDatabases: string;
  }
}

export interface KeptDatabase {
  url: string;
  /** Deletes all rows, and leaves the database to another test. */
  [Symbol.asyncDispose](): Promise<void>;
}

export const keptPostgres = keep(
  () => createPostgres(),
  async (url) => {
    await oneConnection(url).query('DELETE FROM "RateLimit"; DELETE FROM "RateLimitOverride"');
  },
);

export const keptMysql = keep(
  () => createMysql(undefined, undefined, inject("keptDatabases")),
  async (url) => {
    const client = connectMysql(url, 1);
    await client.rateLimit.deleteMany();
    await client.rateLimitOverride.deleteMany();
    await client.$disconnect();
  },
);

function keep(
  create: () => Promise<TestDatabase>,
  empty: (url: string) => Promise<void>,
): () => Promise<KeptDatabase> {
  const free: string[] = [];
  return async () => {
    let url = free.pop();
    if (url === undefined) {
      const created = await create();
      // Disconnect: a server accepts only a limited number of connections.
      await created.prisma.$disconnect();
      url = created.url;
    }
    return {
      url,
      async [Symbol.asyncDispose]() {
        await empty(url);
        free.push(url);
      },
    };
  };
}
