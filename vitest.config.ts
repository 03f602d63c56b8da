import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import ResultsReporter from "./scripts/results-reporter.js";

// Real servers and real timers on a machine that others use, too: there, what fails once is tried
// again before it stops a change. Locally nothing is.
const retry = process.env["CI"] ? 1 : 0;
const timeouts = { testTimeout: 20_000, hookTimeout: 30_000, retry };
/** A busy machine may need longer than the second that is the default. */
const polled = { poll: { timeout: 10_000 } };
const globalSetup = "test/support/global-setup.ts";
const installed = ["**/.tmp/**", "**/node_modules/**"];
/** With all that seldom finds what the rest does not. */
const isNightly = Boolean(process.env["NIGHTLY"]);
/** Databases that fail, hang or are far away, and processes that are busy: most of it is waiting. */
const outages = [
  "test/scenarios/{far-database,outage,silent-connections}.test.ts",
  "test/server/limiter/{answers/deadline.busy,limits/limit-cache}.test.ts",
  "test/server/limiter/answers/when-store-fails{,.set-up}.test.ts",
  "test/server/store/drivers/pools/{connections,pool-errors}.test.ts",
  "test/server/store/sql/{lock-turns,prune,mysql/mysql.locks}.test.ts",
  "test/server/store/transactions/owned-by-store.failure.test.ts",
  "test/server/trpc/run-limited.transaction-outage.test.ts",
];
/** Several processes, with kills and jumping clocks, and simulations: minutes for all cores. */
const histories = [
  "test/histories/{history,holds,leases,processes,time-zones}.test.ts",
  "test/{core,client,scenarios,server}/**/*.processes.test.ts",
  "test/server/limiter/answers/leased.accuracy.test.ts",
  "test/simulation/**/*.test.ts",
];
/** The tests below `folder`. */
const testsIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.test\.tsx?$/.test(file))
    .map((file) => join(folder, file));
const hasText = (text: RegExp) => (file: string) => text.test(readFileSync(file, "utf8"));
/** What `npm test` runs on the store in memory and on one database, and `stores` on all others. */
const acrossStores = ["test/scenarios", "test/server"]
  .flatMap(testsIn)
  .filter(hasText(/support\/stores\.js"/));
/** What is about one database or client that is not the one of `npm test`. */
const oneStore = [
  "test/compatibility/rows.test.ts",
  "test/server/limiter/limits/overrides/overrides-inside.plan-row.test.ts",
  "test/server/redis/{redis-channel,redis-store*,scripts.differential}.test.ts",
  "test/server/changes/postgres-channel.test.ts",
  "test/server/store/drivers/{d1,mysql/mysql-store,pg/prepared-query,prepared-texts}.test.ts",
  "test/server/store/drivers/prisma/{prisma-names,prisma-store,prisma-6}.test.ts",
  "test/server/store/drivers/prisma/{prisma-pool,prisma-own-pool}.test.ts",
  "test/server/store/drivers/sqlite/*.test.ts",
  "test/server/{drizzle,kysely}/*-store.test.ts",
  "test/server/store/sql/{database-errors.real,dialect.few-reads,table/check-table}.test.ts",
  "test/server/store/sql/{mysql/mysql,mysql/mysql.*,sqlite/sqlite}.test.ts",
  "test/server/store/sql/postgresql/postgresql.rounding.test.ts",
  "test/server/store/transactions/owned-by-store.bounds.test.ts",
];
/**
 * What users meet around the code: pages, types, the site, and hosts other than tRPC's own. And a test in
 * which a month passes at once: in a process that files share, it would run whatever another one has left.
 */
const aroundTheCode = [
  "test/client/react/send-limited.test.ts",
  "test/compatibility/{api,fixtures}.test.ts",
  "test/{docs,scripts,site,types}/**/*.test.{ts,tsx}",
  "test/scenarios/{edge-*,handler-hosts,trpc-hosts}.test.ts",
  "test/server/http/{better-auth-*,rate-limit-response.{hosts,server-action}}.test.ts",
];
/** What each driver promises. */
const driverContracts = [
  "test/drivers/**/*.test.ts",
  "test/pg-boss/*.test.ts",
  "test/server/store/transactions/owned-by-store.test.ts",
  "test/server/limiter/limits/overrides/overrides-inside.test.ts",
  "test/server/limiter/holds/settle-hold.transactions.test.ts",
];
/** What runs on other drivers at night only: they seldom differ in it, where they keep their contract. */
const throughDrivers = [
  "test/histories/history.test.ts",
  "test/scenarios/{give-back-bounds,skewed-clocks}.test.ts",
  "test/server/store/sql/prune.test.ts",
  "test/server/limiter/{claims/choose-shards.plain,limits/hash-key,list/list}.test.ts",
  "test/server/limiter/{parts/auto-prune,verbs/acquire/acquire}.test.ts",
  "test/server/limiter/verbs/{forget,limit-all,refund,top-usage}.test.ts",
  "test/server/trpc/admin/{near-keys,show-top}.test.ts",
];
/** The code of the demo. */
const demo = ["test/example-app/**/*.test.{ts,tsx}", "test/scenarios/minimal.test.tsx"];
/** A page of jsdom. Vitest is asked for no page in the other tests of React. */
const pages = testsIn("test/client").filter(hasText(/^\/\/ @vitest-environment jsdom/));
/**
 * The files of a project share a process, and the modules that it has loaded: to load them again takes
 * six times as long as most files. A set-up file gives each of them the clock, the functions and
 * the document as they were.
 */
const shared = { isolate: false, unstubEnvs: true, unstubGlobals: true };
/**
 * What React 18 and 19 do differently: how they report errors, render on the server and hydrate,
 * suspend, run effects twice in strict mode, and insert styles.
 */
const differsByReact = [
  "test/client/admin/{lazy-part,rate-limit-admin,rate-limit-admin.address}.test.tsx",
  "test/client/devtools/panel.test.tsx",
  "test/client/react/create-rate-limit-react.{observer,provider,tabs}.test.tsx",
  "test/client/react/hydration-cache.trpc-prefetch.test.tsx",
  "test/client/react/index.version.test.tsx",
  "test/client/countdown/*.test.tsx",
  "test/client/fetch/react/{create-rate-limit-react,use-limited-action}.test.tsx",
  "test/client/react/rate-limit-meter.smooth.test.tsx",
  "test/client/react/use-limited-mutation.waiting.test.tsx",
];
/** Other runtimes than Node.js, each started by its tests. */
const inRuntimes: TestProjectInlineConfiguration["test"] = {
  exclude: installed,
  globalSetup,
  fileParallelism: false,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  retry,
  // How many tests ran there.
  disableConsoleIntercept: true,
};
const ROOT = fileURLToPath(new URL("vitest.config.ts", import.meta.url));
const site = "test/e2e/site{,.*}.test.ts";
const react18 = fileURLToPath(new URL("test/react-18/node_modules/", import.meta.url));
const drizzle1 = fileURLToPath(new URL("test/drizzle-1/node_modules/drizzle-orm", import.meta.url));
const testingLibrary = fileURLToPath(
  new URL(
    "node_modules/@testing-library/react/dist/@testing-library/react.esm.js",
    import.meta.url,
  ),
);

/** By name. `npm test` runs the first two. Each other one has a command, see `package.json`. */
export const projects: Record<string, TestProjectInlineConfiguration> = {
  main: {
    test: {
      ...timeouts,
      ...shared,
      expect: polled,
      include: [
        "test/{client,compatibility,core,histories,scenarios,server,testing}/**/*.test.{ts,tsx}",
      ],
      exclude: [...histories, ...outages, ...oneStore, ...aroundTheCode, ...demo, ...pages],
      env: { REACT_VERSION: "19", TEST_STORES: "few" },
      setupFiles: "test/support/shared-process.ts",
      globalSetup,
    },
  },
  pages: {
    test: {
      ...timeouts,
      ...shared,
      include: pages,
      environment: "jsdom",
      expect: polled,
      env: { REACT_VERSION: "19" },
      setupFiles: ["test/support/shared-process.ts", "test/support/shared-document.ts"],
      // After the first project, so that a process goes on with the same one.
      sequence: { groupOrder: 1 },
    },
  },
  // Its tests write tests of the documentation into folders of their own, and run them there.
  package: {
    plugins: [
      {
        name: "package-of-hosts",
        enforce: "pre",
        // A package of its own does not find the package around it by name.
        resolveId(id, importer) {
          const isOfHosts = id.startsWith("trpc-rate-limit/") && importer?.includes("/test/hosts/");
          return isOfHosts ? this.resolve(id, ROOT) : undefined;
        },
      },
    ],
    test: { ...timeouts, include: aroundTheCode, exclude: installed, globalSetup },
  },
  cli: {
    test: { ...timeouts, include: ["test/cli/**/*.test.ts"], exclude: installed, globalSetup },
  },
  // The demo's own code. `npm run test:e2e` runs them, too.
  demo: { test: { ...timeouts, include: demo, globalSetup } },
  // What `npm test` runs on one database, on all others.
  stores: {
    test: {
      ...timeouts,
      ...shared,
      include: [
        ...acrossStores,
        ...oneStore,
        "test/server/store/sql/{formula.differential,postgresql/postgresql}.test.ts",
      ],
      exclude: [...histories, ...outages],
      env: { TEST_STORES: "databases" },
      setupFiles: "test/support/shared-process.ts",
      globalSetup,
    },
  },
  // The hooks' tests again, on the oldest React that the package supports: those of what differs
  // between the two, one or two for each part. All of them at night.
  "react-18": {
    resolve: {
      alias: [
        { find: /^(react|react-dom)(?=\/|$)/, replacement: `${react18}$1` },
        // Its CommonJS build would have Node resolve what it imports.
        { find: "@testing-library/react", replacement: testingLibrary },
      ],
    },
    test: {
      ...timeouts,
      include: isNightly
        ? ["test/client/{admin,countdown,devtools,fetch,react}/**/!(*.react-19).test.tsx"]
        : differsByReact,
      env: { REACT_VERSION: "18" },
      // What imports React has to be resolved here, too, rather than by Node.
      server: { deps: { inline: [/@testing-library\/react/, /react-query/] } },
      globalSetup,
    },
  },
  // The contract, the histories and the limiter on other drivers than those of `npm test`.
  drivers: {
    test: {
      ...timeouts,
      include: isNightly ? [...driverContracts, ...throughDrivers] : driverContracts,
      exclude: [...installed, "test/drivers/drizzle-pglite.test.ts"],
      env: { TEST_STORES: "drivers" },
      globalSetup,
    },
  },
  // The tests of drizzleStore again, on Drizzle 1.0. `npm run test:drivers` runs them, too.
  "drizzle-1": {
    resolve: { alias: [{ find: /^drizzle-orm(?=\/|$)/, replacement: drizzle1 }] },
    test: {
      ...timeouts,
      // `test/drivers/drizzle-1.test.ts` says so if it is not installed.
      include: existsSync(drizzle1)
        ? [
            "test/drivers/drizzle-{contract,pglite,synchronous}.test.ts",
            "test/runtimes/http/neon-{drizzle,websocket}.test.ts",
            "test/server/drizzle/*.test.ts",
          ]
        : [],
      env: { DRIZZLE_VERSION: "1" },
      globalSetup,
    },
  },
  outages: { test: { ...timeouts, include: outages, globalSetup } },
  histories: { test: { ...timeouts, include: histories, globalSetup } },
  e2e: {
    test: {
      include: ["test/e2e/**/*.test.ts"],
      exclude: [...installed, site],
      testTimeout: 120_000,
      hookTimeout: 60_000,
      expect: polled,
      globalSetup: "test/e2e/global-setup.ts",
      // Two files at a time, and two tests of each: half of a test is waiting for a limit.
      maxWorkers: 2,
      maxConcurrency: 2,
      // Beside projects with other numbers of workers, they run by themselves.
      sequence: { groupOrder: 1 },
      retry,
    },
  },
  // The site as it is published, in Chromium.
  site: {
    test: { include: [site], testTimeout: 20_000, hookTimeout: 30_000, expect: polled, retry },
  },
  failover: {
    test: {
      include: ["test/failover/**/*.test.ts"],
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // Their processes share the machine. How long a failover takes is printed.
      fileParallelism: false,
      disableConsoleIntercept: true,
      retry,
    },
  },
  galera: {
    test: {
      include: ["test/galera/**/*.test.ts"],
      testTimeout: 60_000,
      hookTimeout: 150_000,
      retry,
    },
  },
  // Clients, clusters and outages of Redis, with servers of its own.
  redis: {
    test: {
      include: ["test/redis/**/*.test.ts"],
      exclude: installed,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      retry,
    },
  },
  "quick-start": {
    test: {
      include: ["test/quick-start/**/*.test.ts"],
      testTimeout: 120_000,
      // Two installations.
      hookTimeout: 600_000,
      retry,
    },
  },
  // Cloudflare's workerd, and its D1 and Durable Objects.
  workers: { test: { ...inRuntimes, include: ["test/runtimes/workers/**/*.test.ts"] } },
  // Bun and Deno, and the databases that are reached over HTTP.
  runtimes: { test: { ...inRuntimes, include: ["test/runtimes/{bun,deno,http}/**/*.test.ts"] } },
  scaffolds: {
    test: {
      include: ["test/{peers,scaffolds}/**/*.test.ts"],
      exclude: installed,
      globalSetup: "test/scaffolds/global-setup.ts",
      testTimeout: 600_000,
      hookTimeout: 60_000,
      // One file at a time, and two of its tests: npm waits more than it computes.
      fileParallelism: false,
      maxConcurrency: 2,
      retry,
      disableConsoleIntercept: true,
    },
  },
};

/** `npm test` runs the first two. `--project` chooses another one. */
const isChosen = process.argv.some((argument) => argument.startsWith("--project"));
const named = Object.entries(projects).map(([name, { test, ...rest }]) => {
  return { ...rest, test: { ...test, name } };
});

export default defineConfig({
  test: {
    // Vitest leaves one core to itself, which on a machine of two is half of it.
    maxWorkers: "100%",
    // Outages that tests provoke are logged, as they should be.
    onConsoleLog: (log) => !log.startsWith("trpc-rate-limit: rate limits cannot be checked"),
    // What `.ci/run` adds up.
    reporters: ["default", ...(process.env["TEST_RESULTS"] ? [new ResultsReporter()] : [])],
    coverage: { include: ["core/**", "server/**", "client/**", "cli/**", "testing/**"] },
    projects: isChosen ? named : named.slice(0, 2),
  },
});
