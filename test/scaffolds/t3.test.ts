/**
 * New applications of create-t3-app, with the package installed by `npm install` without a flag, built
 * and started as for production. The command of the package wires the application. By hand, the tests
 * change only the procedures that are to be limited.
 *
 * Two things in a scaffold need hosts other than npm's registry: Google's font, and the engines that
 * Prisma downloads. The tests avoid both, even if these hosts answer. Prisma generates its client without
 * engines, and a driver adapter connects it. SQL creates its tables, because migrating needs an engine.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { describe, expect, inject, it } from "vitest";
import { readMigrations } from "../../example-app/shared/server/migrate.js";
import { ROOT } from "../docs/pages.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { editFile } from "./edit-file.js";
import { makeProject, openProject, type Project } from "./project.js";
import { expectLimitedPing } from "./requests.js";

type Orm = "prisma" | "drizzle";

const VERSION = "7.40.0";

/** By day, only the first: `test/t3-app` is one with Drizzle, and `test/cli` reads what `init` changes. */
const APPS: { name: string; orm: Orm; flags: string }[] = [
  { name: "Prisma", orm: "prisma", flags: "--prisma true" },
  { name: "Prisma and better-auth", orm: "prisma", flags: "--prisma true --betterAuth true" },
  { name: "Drizzle", orm: "drizzle", flags: "--drizzle true" },
];

const ENV = {
  NEXT_TELEMETRY_DISABLED: "1",
  // Without it, Next.js asks the registry for binaries of other platforms.
  NEXT_IGNORE_INCORRECT_LOCKFILE: "1",
  // Prisma looks for both, but generating runs neither. Any file that exists will do.
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  PRISMA_QUERY_ENGINE_LIBRARY: process.execPath,
  // Not set by the scaffold, and required.
  BETTER_AUTH_GITHUB_CLIENT_ID: "none",
  BETTER_AUTH_GITHUB_CLIENT_SECRET: "none",
};

describe.each(APPS)("create-t3-app with $name", ({ name, orm, flags }) => {
  it("installs the package without a flag, is built, and denies the fourth call", async ({
    skip,
  }) => {
    if (inject("unreachable")) skip(inject("unreachable"));
    if (name !== APPS[0]!.name && !isNightly) skip(NIGHTLY_ONLY);
    await using parent = await makeProject();
    const app = await scaffold(parent, flags);
    // The lockfile that the application had before. Its postinstall would want Prisma's engines.
    await app.run("npm", ["install", "--package-lock-only", "--ignore-scripts"]);
    await avoidDownloads(app.root, orm);
    const adapter = orm === "prisma" ? ["@prisma/adapter-libsql@6"] : [];
    const warnings = await app.install([inject("tarball"), ...adapter], { env: ENV });
    expect(warnings).not.toContain("ERESOLVE");

    await app.run(join(app.root, "node_modules/.bin/trpc-rate-limit"), ["init", "--yes"]);
    await usePackage(app.root);
    await makeTables(app, orm);
    const bin = (command: string) => join(app.root, "node_modules/.bin", command);
    // Stricter than the scaffold, whose own setting would not see our declarations.
    const types = await app.typeErrors(bin("tsc"), ["--noEmit", "--skipLibCheck", "false"]);
    expect(types).toEqual([]);
    await app.run(bin("next"), ["build"], { env: ENV });

    await using server = await app.serve(["node_modules/next/dist/bin/next", "start", "-p"], ENV);
    const page = await fetch(`${server.url}/limits`);
    expect(await page.text()).toMatch(/<button>.*Ping.*<\/button>/);
    await expectLimitedPing(server.url);
    app.report(`create-t3-app, ${name} (${(await app.installed()).length} packages)`);
  });
});

async function scaffold(parent: Project, flags: string): Promise<Project> {
  const options = `--CI --trpc true --appRouter true --dbProvider sqlite --noGit --noInstall ${flags}`;
  await parent.run("npx", ["-y", `create-t3-app@${VERSION}`, "app", ...options.split(" ")]);
  return openProject(join(parent.root, "app"));
}

async function avoidDownloads(root: string, orm: Orm): Promise<void> {
  await editFile(
    join(root, "src/app/layout.tsx"),
    ['import { Geist } from "next/font/google";', ""],
    [/Geist\(\{[^}]*\}\)/, '{ className: "", variable: "" }'],
  );
  if (orm !== "prisma") return;
  await editFile(join(root, "prisma/schema.prisma"), [
    "generator client {",
    'generator client {\n  engineType = "client"',
  ]);
  await editFile(
    join(root, "src/server/db.ts"),
    [
      "import { PrismaClient }",
      'import { PrismaLibSQL } from "@prisma/adapter-libsql";\nimport { PrismaClient }',
    ],
    [
      "new PrismaClient({",
      "new PrismaClient({\n    adapter: new PrismaLibSQL({ url: env.DATABASE_URL }),",
    ],
  );
}

/** A limited procedure, and a page that shows its limit. */
async function usePackage(root: string): Promise<void> {
  await editFile(
    join(root, "src/server/api/root.ts"),
    [
      "import { postRouter }",
      `import { publicProcedure, rateLimited } from "~/server/api/trpc";
import { postRouter }`,
    ],
    [
      "  rateLimit: rateLimitRouter,",
      `  rateLimit: rateLimitRouter,
  ping: publicProcedure.use(rateLimited("createPost")).mutation(() => "pong"),`,
    ],
  );
  await mkdir(join(root, "src/app/limits"));
  await writeFile(
    join(root, "src/app/limits/page.tsx"),
    `"use client";

import { api, RateLimitCountdown, useRateLimit } from "~/trpc/react";

export default function Limits() {
  const { status } = useRateLimit("createPost");
  const ping = api.ping.useMutation();
  return (
    <button disabled={status?.ok === false} onClick={() => ping.mutate()}>
      <span>Ping </span>
      <RateLimitCountdown retryAt={status?.retryAt} />
    </button>
  );
}
`,
  );
}

async function makeTables(app: Project, orm: Orm): Promise<void> {
  const bin = (command: string) => join(app.root, "node_modules/.bin", command);
  if (orm === "drizzle") {
    await app.run(bin("drizzle-kit"), ["push"], { env: ENV });
    return;
  }
  await app.run(bin("prisma"), ["generate"], { env: ENV });
  const client = createClient({ url: `file:${join(app.root, "db.sqlite")}` });
  const migrations = await readMigrations(join(ROOT, "prisma/migrations"));
  await client.batch(migrations.flatMap(({ statements }) => statements));
  client.close();
}
