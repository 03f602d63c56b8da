/** Prisma on its adapter for better-sqlite3, if better-sqlite3 was compiled on this machine. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaClient } from "../../prisma/generated/client/client.js";
import { prismaStore, type RateLimitStore } from "../../server/index.js";
import { hasBetterSqlite3 } from "./open-sqlite.js";
import type { Open } from "./open-store.js";

const project = new URL("../better-sqlite3/package.json", import.meta.url);
const ADAPTER = "@prisma/adapter-better-sqlite3";

export const hasPrismaBetterSqlite3 =
  hasBetterSqlite3 && existsSync(new URL(`node_modules/${ADAPTER}`, project));

export function connectBetterSqlite3(url: string): PrismaClient {
  const { PrismaBetterSqlite3 } = createRequire(fileURLToPath(project))(ADAPTER) as {
    PrismaBetterSqlite3: new (config: { url: string; timeout: number }) => PrismaLibSql;
  };
  return new PrismaClient({ adapter: new PrismaBetterSqlite3({ url, timeout: 100 }) });
}

export const throughBetterSqlite3: Open = (url, { isolation }) => {
  const prisma = connectBetterSqlite3(url);
  return {
    store: prismaStore(prisma, { isolation }) as RateLimitStore,
    run: async (sql) => prisma.$queryRawUnsafe(sql),
    close: () => prisma.$disconnect(),
  };
};
