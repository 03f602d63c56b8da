/** The check as a part of `init`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeInstalled } from "../../../support/check-plan.js";
import { MAIN, runInit } from "../../../support/run-init.js";
import { makeFolder } from "../../../support/scaffold.js";
import { application, EXPRESS, HOSTS } from "../../../support/trpc-applications.js";

const long = { timeout: 120_000 };
const PACKAGES = [
  "@tanstack/react-query",
  "@trpc/client",
  "@trpc/server",
  "@types/express",
  "@types/node",
  "@types/pg",
  "@types/react",
  "express",
  "fastify",
  "hono",
  "pg",
  "react",
];

describe("init", () => {
  it.each(HOSTS)("writes what compiles on $host", long, async ({ options }) => {
    await using app = await makeInstalled(application(options), PACKAGES);
    const before = await app.readAll();
    const printed = await runInit(app.root, { dryRun: true });
    expect(printed).not.toMatch(/^By hand/m);
    expect(printed).toContain("\ntsc: no new error.\n");
    expect(await app.readAll()).toEqual(before);
  });

  it("leaves right edits where the client of Prisma is not generated yet", long, async () => {
    const files = application(EXPRESS);
    files["prisma/schema.prisma"] = `generator client {
  provider = "prisma-client"
  output   = "../src/generated"
}

datasource db {
  provider = "postgresql"
}
`;
    files["src/db.ts"] = `import { PrismaClient } from "./generated/client";

export const pool = new PrismaClient();
`;
    await using app = await makeInstalled(files, PACKAGES);
    const printed = await runInit(app.root, { dryRun: true });
    expect(printed).not.toMatch(/^By hand/m);
    expect(printed).toContain("prismaStore(pool)");
    expect(printed).toContain("\ntsc: no new error.\n");
  });

  it("prints what does not compile, and what comes after it", long, async () => {
    const files = application(EXPRESS);
    files["src/tests.ts"] = `import { appRouter } from "./router";
import { pool } from "./db";

export const caller = appRouter.createCaller({ pool, address: 1 });
`;
    await using app = await makeInstalled(files, PACKAGES);
    const printed = await runInit(app.root);
    for (const place of [
      /src\/context\.ts \(tsc of this application says: TS2322 .*, in src\/tests\.ts\):$/,
      /src\/trpc\.ts \(it comes after src\/context\.ts\):$/,
      /src\/router\.ts \(it comes after src\/context\.ts\):$/,
    ]) {
      expect(printed).toMatch(new RegExp(`^By hand, in ${place.source}`, "m"));
    }
    const written = await app.readAll();
    expect(written["src/limits.ts"]).toContain("createRateLimiter({");
    expect(written).toMatchObject({ "src/context.ts": files["src/context.ts"] });
  });
});

describe("the command", () => {
  const HANGING = {
    "package.json": `{ "name": "app", "type": "module", "dependencies": { "pg": "8" } }`,
    "tsconfig.json": "{}",
    "src/server/pool.ts": `import pg from "pg";\n\nexport const pool = new pg.Pool();\n`,
    "node_modules/typescript/package.json": `{ "type": "module", "bin": { "tsc": "tsc.js" } }`,
    "node_modules/typescript/tsc.js": "setInterval(() => {}, 1000);\n",
  };

  it("that is interrupted leaves no copy of the application", long, async () => {
    await using temporary = await makeFolder({});
    await using app = await makeFolder(HANGING);
    const child = spawn(process.execPath, [MAIN, "init", "--dry-run"], {
      cwd: app.root,
      env: { ...process.env, TMPDIR: temporary.root },
      stdio: "ignore",
    });
    const closed = once(child, "close");
    await expect.poll(() => readdir(temporary.root), { timeout: 60_000 }).toHaveLength(1);
    child.kill("SIGINT");
    expect(await closed).toEqual([130, null]);
    expect(await readdir(temporary.root)).toEqual([]);
  });

  it("compiles nothing with --no-check", long, async () => {
    await using app = await makeFolder(HANGING);
    const child = spawn(process.execPath, [MAIN, "init", "--dry-run", "--no-check"], {
      cwd: app.root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    expect(await once(child, "close")).toEqual([0, null]);
    expect(printed).toMatch(/^\+export const limiter/m);
    expect(printed).not.toContain("tsc");
  });
});
