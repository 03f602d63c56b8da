import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    exclude: ["test/e2e/**", "**/.tmp/**", "**/node_modules/**"],
    globalSetup: "test/support/global-setup.ts",
    testTimeout: 20_000,
    hookTimeout: 30_000,
    coverage: { include: ["core/**", "server/**", "client/**"] },
  },
});
