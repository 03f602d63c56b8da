/** The application's database, migrated when it is opened. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient as MysqlClient } from "../generated/mysql/client.js";
import { PrismaClient as PostgresqlClient } from "../generated/postgresql/client.js";
import { PrismaClient } from "../generated/prisma/client.js";
import { migrate } from "./migrate.js";

const PRISMA = join(dirname(fileURLToPath(import.meta.url)), "../prisma");
const folder = (path: string) => join(PRISMA, path);

/**
 * The URL and kind that each client was opened with, so that another process can open the same database.
 */
const opened = new WeakMap<PrismaClient, { url: string; kind: string }>();

/** @throws Error for a client that `openDatabase` has not made. */
export function databaseOf(prisma: PrismaClient): { url: string; kind: string } {
  const database = opened.get(prisma);
  if (!database) throw new Error("This client is not one of openDatabase");
  return database;
}

/**
 * @param url such as `file:./demo.db`, `postgresql://…` or `mysql://…`.
 * @param busyTimeout of SQLite, ms. While another process writes, libsql blocks this whole process for up
 *   to this time. So the default is short: the limiter tries again by itself, and other requests go on
 *   between its tries.
 */
export async function openDatabase(url: string, busyTimeout = 100): Promise<PrismaClient> {
  if (/^postgres(ql)?:/.test(url)) {
    const prisma = new PostgresqlClient({ adapter: new PrismaPg({ connectionString: url }) });
    await migrate(prisma, folder("postgresql/migrations"), "postgresql");
    return remember(sameModels(prisma), url, "PostgreSQL");
  }
  if (/^(mysql|mariadb):/.test(url)) {
    const adapter = new PrismaMariaDb(url.replace(/^mysql:/, "mariadb:"));
    const prisma = new MysqlClient({ adapter });
    await migrate(prisma, folder("mysql/migrations"), "mysql");
    return remember(sameModels(prisma), url, "MySQL");
  }
  const adapter = new PrismaLibSql({ url, timeout: busyTimeout });
  const prisma = new PrismaClient({ adapter });
  // With a write-ahead log, readers and the writer do not wait for each other.
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
  await migrate(prisma, folder("migrations"));
  return remember(prisma, url, "SQLite");
}

function remember(prisma: PrismaClient, url: string, kind: string): PrismaClient {
  opened.set(prisma, { url, kind });
  return prisma;
}

/** The three schemas have the same models, so the rest of the application knows one client. */
function sameModels(prisma: PostgresqlClient | MysqlClient): PrismaClient {
  return prisma as unknown as PrismaClient;
}
