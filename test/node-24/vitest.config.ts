/** The tests that only Node.js 24 can run. A test of the main suite starts them. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const drizzle1 = fileURLToPath(new URL("../drizzle-1/node_modules/drizzle-orm", import.meta.url));

export default defineConfig({
  // Drizzle has had a driver of node:sqlite since 1.0.
  resolve: {
    alias: existsSync(drizzle1) ? [{ find: /^drizzle-orm(?=\/|$)/, replacement: drizzle1 }] : [],
  },
  test: {
    env: { DRIZZLE_VERSION: "1" },
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: ["test/node-24/*.run.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Outages that tests provoke are logged, as they should be.
    onConsoleLog: (log) => !log.startsWith("trpc-rate-limit: rate limits cannot be checked"),
  },
});
