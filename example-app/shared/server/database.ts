/** The application's database, migrated when it is opened. */
import { fileURLToPath } from "node:url";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient as MysqlClient } from "../generated/mysql/client.js";
import { PrismaClient as PostgresqlClient } from "../generated/postgresql/client.js";
import { PrismaClient } from "../generated/prisma/client.js";
import { migrate } from "./migrate.js";

const folder = (path: string) => fileURLToPath(new URL(`../prisma/${path}`, import.meta.url));

/** @param url such as `file:./demo.db`, `postgresql://…` or `mysql://…`. */
export async function openDatabase(url: string): Promise<PrismaClient> {
  if (/^postgres(ql)?:/.test(url)) {
    const prisma = new PostgresqlClient({ adapter: new PrismaPg({ connectionString: url }) });
    await migrate(prisma, folder("postgresql/migrations"), "postgresql");
    return sameModels(prisma);
  }
  if (/^(mysql|mariadb):/.test(url)) {
    const adapter = new PrismaMariaDb(url.replace(/^mysql:/, "mariadb:"));
    const prisma = new MysqlClient({ adapter });
    await migrate(prisma, folder("mysql/migrations"), "mysql");
    return sameModels(prisma);
  }
  // While another process writes, libsql blocks this whole process for up to this many ms. So keep
  // it short: the limiter tries again by itself, and other requests go on between its tries.
  const adapter = new PrismaLibSql({ url, timeout: 100 });
  const prisma = new PrismaClient({ adapter });
  // With a write-ahead log, readers and the writer do not wait for each other.
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
  await migrate(prisma, folder("migrations"));
  return prisma;
}

/** The three schemas have the same models, so the rest of the application knows one client. */
function sameModels(prisma: PostgresqlClient | MysqlClient): PrismaClient {
  return prisma as unknown as PrismaClient;
}
