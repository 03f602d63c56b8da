import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/galera/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 150_000,
    retry: process.env["CI"] ? 1 : 0,
  },
});
