/** Drizzle 1.0 in a project of its own, because the package is developed with Drizzle 0.45. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = new URL("../drizzle-1/node_modules/drizzle-orm/package.json", import.meta.url);

export const hasDrizzle1 = existsSync(fileURLToPath(path));
/** What a test prints when it is skipped without it. */
export const NO_DRIZZLE_1 = "needs Drizzle 1.0: npm run install:test-projects";
