/** The tests that only Node.js 24 can run. A test of the main suite starts them. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: ["test/node-24/*.run.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Outages that tests provoke are logged, as they should be.
    onConsoleLog: (log) => !log.startsWith("trpc-rate-limit: rate limits cannot be checked"),
  },
});
