/**
 * Prisma 8 in a project of its own. Prisma 8 needs Node.js 24, so its tests run in a process of their
 * own: see `test/drivers/prisma-8.test.ts`.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type Prisma8Like, prismaStore, type RateLimitStore } from "../../server/index.js";
import { node24, NO_NODE_24 } from "./node-24.js";
import type { OpenedStore, OpenStoreOptions } from "./open-store.js";

const project = new URL("../prisma-8/", import.meta.url);
const require = createRequire(new URL("package.json", project));
const isInstalled = existsSync(
  fileURLToPath(new URL("node_modules/@prisma/orm-postgres/package.json", project)),
);

/** Why the tests of Prisma 8 cannot run; `undefined` if they can. */
export const noPrisma8: string | undefined =
  node24 === undefined
    ? NO_NODE_24
    : isInstalled
      ? undefined
      : "needs Prisma 8: npm run install:test-projects";

export interface Prisma8Client extends Prisma8Like {
  close(): Promise<void>;
}

export function connectPrisma8(
  url: string,
  { connections, table }: { connections?: number | undefined; table?: string } = {},
): { prisma: Prisma8Client; run: (sql: string) => Promise<unknown>; close(): Promise<void> } {
  const { connect } = require(fileURLToPath(new URL("client.js", project))) as {
    connect(url: string, table?: string, connections?: number): ReturnType<typeof connectPrisma8>;
  };
  return connect(url, table, connections);
}

export const throughPrisma8 = (
  url: string,
  { isolation, connections }: OpenStoreOptions,
): OpenedStore => {
  const { prisma, run, close } = connectPrisma8(url, { connections });
  return { store: prismaStore(prisma, { isolation }) as RateLimitStore, run, close };
};
