/**
 * Databases that a test leaves to the next one in its process, without rows. To create one takes
 * longer than most tests. They are for tests that change nothing but rows.
 */
import { inject } from "vitest";
import { connectMysql, connectPostgres } from "./clients.js";
import { createMysql, createPostgres, type TestDatabase } from "./database.js";

declare module "vitest" {
  interface ProvidedContext {
    /** What their names begin with. The run that has created them deletes them at its end. */
    keptDatabases: string;
  }
}

export interface KeptDatabase {
  url: string;
  /** Deletes all rows, and leaves the database to another test. */
  [Symbol.asyncDispose](): Promise<void>;
}

export const keptPostgres = keep(
  () => createPostgres(undefined, undefined, inject("keptDatabases")),
  async (url) => {
    const client = connectPostgres(url, 1);
    await client.rateLimit.deleteMany();
    await client.rateLimitOverride.deleteMany();
    await client.$disconnect();
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
      // It has connections of its own, of which a server has only so many.
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
