import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const timeouts = {
  testTimeout: 20_000,
  hookTimeout: 30_000,
  // Real servers and real timers on a machine that others use, too: there, what fails once is tried
  // again before it stops a change. Locally nothing is.
  retry: process.env["CI"] ? 1 : 0,
};
const exclude = [
  "test/drivers/**",
  "test/e2e/**",
  "test/galera/**",
  "test/history/history.test.ts",
  "test/store/processes.test.ts",
  "test/quick-start/**",
  "test/scaffolds/**",
  "**/.tmp/**",
  "**/node_modules/**",
];
const react18 = fileURLToPath(new URL("test/react-18/node_modules/", import.meta.url));
const testingLibrary = fileURLToPath(
  new URL(
    "node_modules/@testing-library/react/dist/@testing-library/react.esm.js",
    import.meta.url,
  ),
);

export default defineConfig({
  test: {
    // Vitest leaves one core to itself, which on a machine of two is half of it.
    maxWorkers: "100%",
    // Outages that tests provoke are logged, as they should be.
    onConsoleLog: (log) => !log.startsWith("trpc-rate-limit: rate limits cannot be checked"),
    coverage: { include: ["core/**", "server/**", "client/**"] },
    projects: [
      {
        test: {
          ...timeouts,
          name: "all",
          include: ["test/**/*.test.{ts,tsx}"],
          exclude,
          env: { REACT_VERSION: "19" },
          globalSetup: "test/support/global-setup.ts",
        },
      },
      {
        // The hooks' tests again, on the oldest React that the package supports.
        resolve: {
          alias: [
            { find: /^(react|react-dom)(?=\/|$)/, replacement: `${react18}$1` },
            // Its CommonJS build would have Node resolve what it imports.
            { find: "@testing-library/react", replacement: testingLibrary },
          ],
        },
        test: {
          ...timeouts,
          name: "react 18",
          include: ["test/{react,devtools}/**/*.test.tsx"],
          exclude,
          env: { REACT_VERSION: "18" },
          // What imports React has to be resolved here, too, rather than by Node.
          server: { deps: { inline: [/@testing-library\/react/, /react-query/] } },
        },
      },
    ],
  },
});
