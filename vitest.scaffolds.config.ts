import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/scaffolds/**/*.test.ts"],
    globalSetup: "test/scaffolds/global-setup.ts",
    testTimeout: 600_000,
    hookTimeout: 60_000,
    // One file at a time, and two of its tests: npm waits more than it computes.
    fileParallelism: false,
    maxConcurrency: 2,
    retry: process.env["CI"] ? 1 : 0,
    disableConsoleIntercept: true,
  },
});
