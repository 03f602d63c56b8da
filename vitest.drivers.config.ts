import { defineConfig } from "vitest/config";

/** The contract, the histories and the limiter on other drivers than those of `npm test`. */
export default defineConfig({
  test: {
    include: [
      "test/drivers/**/*.test.ts",
      "test/history/history.test.ts",
      "test/store/prune.test.ts",
      "test/server/{auto-prune,forget,give-back,give-back-bounds,hash-key,limit-all,list}.test.ts",
      "test/server/shard-take.test.ts",
      "test/server/{skewed-clocks,transaction,upkeep}.test.ts",
    ],
    exclude: ["**/.tmp/**", "**/node_modules/**"],
    env: { TEST_DRIVERS: "others" },
    globalSetup: "test/support/global-setup.ts",
    maxWorkers: "100%",
    testTimeout: 20_000,
    hookTimeout: 30_000,
    retry: process.env["CI"] ? 1 : 0,
    onConsoleLog: (log) => !log.startsWith("trpc-rate-limit: rate limits cannot be checked"),
  },
});
