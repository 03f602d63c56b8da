/** The application's SQLite file, migrated when it is opened. */
import { fileURLToPath } from "node:url";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaClient } from "../generated/prisma/client.js";
import { migrate } from "./migrate.js";

const MIGRATIONS = fileURLToPath(new URL("../prisma/migrations", import.meta.url));

/** @param url such as `file:./demo.db`. */
export async function openDatabase(url: string): Promise<PrismaClient> {
  // A second process on the same file waits for its turn instead of failing.
  const adapter = new PrismaLibSql({ url, timeout: 5000 });
  const prisma = new PrismaClient({ adapter });
  // With a write-ahead log, readers and the writer do not wait for each other.
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
  await migrate(prisma, MIGRATIONS);
  return prisma;
}
