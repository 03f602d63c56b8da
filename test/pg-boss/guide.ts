/** The files of the guide to durable work, and a database in which they run. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { blocksOf, readPage, ROOT } from "../docs/pages.js";
import { connectPool } from "../support/connect-pool.js";
import { createPostgres } from "../support/database.js";
import { node24, NO_NODE_24 } from "../support/node-24.js";

const GUIDE = "docs/guides/durable-work.md";
const LEFT_OUT = join(ROOT, "test/docs/scaffold/guides/durable-work");
export const PG_BOSS = fileURLToPath(
  new URL("node_modules/pg-boss/dist/index.js", import.meta.url),
);
/** Why the guide cannot run here. */
export const WHY =
  node24 === undefined
    ? NO_NODE_24
    : existsSync(PG_BOSS)
      ? undefined
      : "needs pg-boss: npm run install:test-projects";

/** The client of the demo, which has the model of messages. */
const PRISMA = `
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "${join(ROOT, "example-app/shared/generated/postgresql/client.js")}";
const adapter = new PrismaPg({ connectionString: process.env["DATABASE_URL"] });
export const prisma = new PrismaClient({ adapter });
`;

/** Tables that the models and queries of the guide stand for. */
const TABLES = `
CREATE TABLE "Message" (id SERIAL PRIMARY KEY, visitor TEXT NOT NULL, text TEXT NOT NULL,
  "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, nonce TEXT);
CREATE TABLE delivered (id INTEGER PRIMARY KEY, at TIMESTAMPTZ NOT NULL);
-- The demo has mapped its model to this name.
CREATE TABLE rate_limits (LIKE "RateLimit" INCLUDING ALL);
`;

/** pg-boss is installed in this folder, and the files are where our package is found by its name. */
export const fromHere = (code: string) =>
  code.replaceAll('"pg-boss"', `"${pathToFileURL(PG_BOSS).href}"`);

/** Writes the guide's files. @returns their folder. */
export async function writeGuide(edit: (code: string) => string = fromHere): Promise<string> {
  const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "server"), { recursive: true });
  for (const path of await readdir(join(LEFT_OUT, "server"))) {
    const code = await readFile(join(LEFT_OUT, "server", path), "utf8");
    await writeFile(join(folder, "server", path.slice(0, -".txt".length)), edit(code));
  }
  await writeFile(join(folder, "server/prisma.ts"), PRISMA);
  for (const { path, code } of blocksOf(await readPage(GUIDE))) {
    const file = join(folder, path!);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, edit(code));
  }
  return folder;
}

export async function openDatabase() {
  const database = await createPostgres();
  const pool = connectPool(database.url, 4);
  await pool.query(TABLES);
  const children: ChildProcess[] = [];
  return {
    pool,
    /** Starts a program of this folder. */
    start(program: string, ...args: string[]) {
      const path = fileURLToPath(new URL(program, import.meta.url));
      const child = spawn(node24!, ["--import", "tsx", path, ...args], {
        cwd: ROOT,
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, DATABASE_URL: database.url },
      });
      children.push(child);
      const lines: string[] = [];
      createInterface(child.stdout).on("line", (line) => lines.push(line));
      return { child, lines, exit: once(child, "exit") };
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill("SIGKILL");
      await pool.end();
      await database[Symbol.asyncDispose]();
    },
  };
}
