import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/quick-start/**/*.test.ts"],
    testTimeout: 120_000,
    // Two installations.
    hookTimeout: 600_000,
  },
});
