import { defineConfig } from "vitest/config";

/** Run by `test/drivers/prisma-8.test.ts`, with Node.js 24. */
export default defineConfig({
  root: new URL("../..", import.meta.url).pathname,
  test: {
    include: ["test/prisma-8/suite.ts"],
    globalSetup: "test/support/global-setup.ts",
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
