/** Prisma 6 in a project of its own, because the package is developed with Prisma 7. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { prismaStore, type PrismaLike, type RateLimitStore } from "../../server/index.js";
import type { OpenedStore, OpenStoreOptions } from "./open-store.js";

const project = new URL("../prisma-6/", import.meta.url);
const require = createRequire(new URL("package.json", project));

export const hasPrisma6 = existsSync(fileURLToPath(new URL("generated/mysql/index.js", project)));
/** The message of a test that is skipped without the project. */
export const NO_PRISMA_6 = "needs Prisma 6: npm run install:test-projects";

type Provider = "sqlite" | "postgresql" | "mysql";
type Make<TResult> = new (options: object) => TResult;
type Client = PrismaLike & { $disconnect(): Promise<void> };

const adapters: Record<Provider, (url: string, connections?: number) => unknown> = {
  sqlite(url) {
    const { PrismaLibSQL } = require("@prisma/adapter-libsql") as { PrismaLibSQL: Make<unknown> };
    return new PrismaLibSQL({ url, timeout: 5000 });
  },
  postgresql(url, connections) {
    const { PrismaPg } = require("@prisma/adapter-pg") as { PrismaPg: Make<unknown> };
    const size = connections === undefined ? {} : { max: connections };
    return new PrismaPg({ connectionString: url, ...size });
  },
  mysql(url) {
    const { PrismaMariaDb } = require("@prisma/adapter-mariadb") as {
      PrismaMariaDb: Make<unknown>;
    };
    const { hostname, port, username, password, pathname } = new URL(url);
    return new PrismaMariaDb({
      host: hostname,
      port: Number(port || 3306),
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: pathname.slice(1),
      connectionLimit: 10,
    });
  },
};

export function connectPrisma6(provider: Provider, url: string, connections?: number): Client {
  const { PrismaClient } = require(`./generated/${provider}`) as { PrismaClient: Make<Client> };
  return new PrismaClient({ adapter: adapters[provider](url, connections) });
}

/** The application's pool, and a client whose adapter uses that pool. */
export function connectPoolOfPrisma6(url: string) {
  const { PrismaClient } = require("./generated/postgresql") as { PrismaClient: Make<Client> };
  const { PrismaPg } = require("@prisma/adapter-pg") as { PrismaPg: Make<unknown> };
  // The adapter accepts only pools of its own copy of `pg`.
  const { Pool } = createRequire(require.resolve("@prisma/adapter-pg"))("pg") as typeof pg;
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  return { pool, prisma: new PrismaClient({ adapter: new PrismaPg(pool as never) }) };
}

export const throughPrisma6 =
  (provider: Provider) =>
  (url: string, { isolation, connections }: OpenStoreOptions): OpenedStore => {
    const prisma = connectPrisma6(provider, url, connections);
    return {
      store: prismaStore(prisma, { isolation }) as RateLimitStore,
      run: async (sql) => prisma.$queryRawUnsafe(sql),
      close: () => prisma.$disconnect(),
    };
  };
