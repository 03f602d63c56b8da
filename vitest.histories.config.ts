import { defineConfig } from "vitest/config";

/** Races and histories of several processes, with kills and jumping clocks: minutes for all cores. */
export default defineConfig({
  test: {
    include: ["test/history/history.test.ts", "test/store/processes.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    testTimeout: 20_000,
    hookTimeout: 30_000,
    retry: process.env["CI"] ? 1 : 0,
    onConsoleLog: (log) => !log.startsWith("trpc-rate-limit: rate limits cannot be checked"),
  },
});
