/** Databases for tests: fresh, migrated with the files that users migrate with. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { migrate } from "../../example-app/server/migrate.js";
import { PrismaClient } from "../../prisma/generated/client/client.js";
import type { PrismaLike } from "../../server/index.js";

const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));

export interface TestDatabase {
  url: string;
  prisma: PrismaClient;
  /** Another client on the same file, as another process would have. */
  connect(): PrismaClient;
  [Symbol.asyncDispose](): Promise<void>;
}

export function connectSqlite(url: string): PrismaClient {
  return new PrismaClient({ adapter: new PrismaLibSql({ url, timeout: 5000 }) });
}

export async function createSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "limits-"));
  const url = `file:${join(folder, "test.db")}`;
  const clients: PrismaClient[] = [];
  const connect = () => {
    const client = connectSqlite(url);
    clients.push(client);
    return client;
  };
  const prisma = connect();
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
  await migrate(prisma, MIGRATIONS);
  return {
    url,
    prisma,
    connect,
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.$disconnect()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The client as a store sees it, with something to do before each of its raw queries. */
export function intercept(
  prisma: PrismaClient,
  before: (sql: readonly string[], values: unknown[]) => Promise<void>,
): PrismaLike {
  const { _activeProvider, _runtimeDataModel } = prisma as unknown as Record<string, unknown>;
  const client = {
    _activeProvider,
    _runtimeDataModel,
    async $queryRaw(sql: TemplateStringsArray, ...values: unknown[]): Promise<unknown> {
      await before(sql, values);
      return prisma.$queryRaw(sql, ...values);
    },
    $executeRaw: prisma.$executeRaw.bind(prisma),
    $transaction: prisma.$transaction.bind(prisma),
  };
  return client;
}
