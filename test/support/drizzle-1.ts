/** Drizzle 1.0 in a project of its own, because the package is developed with Drizzle 0.45. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DrizzleLike } from "../../server/drizzle/index.js";

const path = new URL("../drizzle-1/node_modules/drizzle-orm/package.json", import.meta.url);

export const hasDrizzle1 = existsSync(fileURLToPath(path));
/** The message of a test that is skipped without Drizzle 1.0. */
export const NO_DRIZZLE_1 = "needs Drizzle 1.0: npm run install:test-projects";

/** `drizzle-orm/node-sqlite`. Drizzle 0.45 has neither this module nor its types. */
export async function drizzleNodeSqlite(): Promise<(client: object) => DrizzleLike> {
  const driver = new URL("../drizzle-1/node_modules/drizzle-orm/node-sqlite/", import.meta.url);
  const { drizzle } = (await import(new URL("index.js", driver).href)) as {
    drizzle(config: { client: object }): DrizzleLike;
  };
  return (client) => drizzle({ client });
}
