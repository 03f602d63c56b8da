/** The application's SQLite file, migrated when it is opened. */
import { fileURLToPath } from "node:url";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaClient } from "../generated/prisma/client.js";
import { migrate } from "./migrate.js";

const MIGRATIONS = fileURLToPath(new URL("../prisma/migrations", import.meta.url));

/** @param url such as `file:./demo.db`. */
export async function openDatabase(url: string): Promise<PrismaClient> {
  // While another process writes, libsql blocks this whole process for up to this many ms. So keep
  // it short: the limiter tries again by itself, and other requests go on between its tries.
  const adapter = new PrismaLibSql({ url, timeout: 100 });
  const prisma = new PrismaClient({ adapter });
  // With a write-ahead log, readers and the writer do not wait for each other.
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
  await migrate(prisma, MIGRATIONS);
  return prisma;
}
