/** The guide to durable work: its own code, on PostgreSQL and pg-boss, in processes that are killed. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { blocksOf, readPage, ROOT } from "../docs/pages.js";
import { connectPool } from "../support/connect-pool.js";
import { createPostgres } from "../support/database.js";
import { node24, NO_NODE_24 } from "../support/node-24.js";

const GUIDE = "docs/guides/durable-work.md";
const LEFT_OUT = join(ROOT, "test/docs/scaffold/guides/durable-work");
const PG_BOSS = fileURLToPath(new URL("node_modules/pg-boss/dist/index.js", import.meta.url));
const WHY =
  node24 === undefined
    ? NO_NODE_24
    : existsSync(PG_BOSS)
      ? undefined
      : "needs pg-boss: npm run install:test-projects";

const STEPS = [
  "before the limit",
  "after the limit",
  "after the row",
  "after the job",
  "after the commit",
];

/** The client of the demo, which has the model of messages. */
const PRISMA = `
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "${join(ROOT, "example-app/shared/generated/postgresql/client.js")}";
const adapter = new PrismaPg({ connectionString: process.env["DATABASE_URL"] });
export const prisma = new PrismaClient({ adapter });
`;

/** What the page says of \`pg\` in one sentence. */
const WITH_PG = `
import pg from "pg";
import { createRateLimiter, pgStore } from "trpc-rate-limit/server";
import { limits } from "./limits.js";
import { boss } from "./queue.js";

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"] });
export const limiter = createRateLimiter({ store: pgStore(pool), limits });
export const sendLater = (visitor, text) =>
  limiter.transaction(async ({ tx, limit }) => {
    const { retryAfter = 0 } = await limit("messages", { key: visitor, reserve: true });
    const startAfter = new Date(limiter.clock() + retryAfter);
    const inserted = 'INSERT INTO "Message" (visitor, text) VALUES ($1, $2) RETURNING id';
    const { id } = (await tx.query(inserted, [visitor, text])).rows[0];
    const db = { executeSql: (text, values) => tx.query(text, values) };
    await boss.send("deliver", { id }, { db, startAfter });
    return { id, startAfter };
  });
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
const fromHere = (code: string) => code.replaceAll('"pg-boss"', `"${pathToFileURL(PG_BOSS).href}"`);

/** Half a year for each token, and as many as the test needs. */
const slowly = (code: string) =>
  fromHere(code)
    .replace("period: MINUTE", "period: 1e12")
    .replace("maxReserved: 100", "maxReserved: 1e4");

/** Writes the guide's files. @returns their folder. */
async function writeGuide(edit: (code: string) => string = fromHere): Promise<string> {
  const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "server"), { recursive: true });
  for (const path of await readdir(join(LEFT_OUT, "server"))) {
    await cp(join(LEFT_OUT, "server", path), join(folder, "server", path.slice(0, -".txt".length)));
  }
  await writeFile(join(folder, "server/prisma.ts"), PRISMA);
  await writeFile(join(folder, "server/with-pg.ts"), WITH_PG);
  for (const { path, code } of blocksOf(await readPage(GUIDE))) {
    const file = join(folder, path!);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, edit(code));
  }
  return folder;
}

async function openDatabase() {
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
    /** Messages, jobs, and tokens that were taken of a bucket that does not refill meanwhile. */
    async counts() {
      const count = async (text: string) =>
        Number((await pool.query<{ n: string }>(`SELECT ${text} AS n`)).rows[0]!.n);
      const taken = (table: string) => `(SELECT coalesce(sum(1 - value), 0) FROM "${table}")`;
      return {
        messages: await count('(SELECT count(*) FROM "Message")'),
        jobs: await count(
          `(SELECT count(*) FROM pgboss.job JOIN "Message" ON (data->>'id')::int = "Message".id)`,
        ),
        allJobs: await count("(SELECT count(*) FROM pgboss.job WHERE name = 'deliver')"),
        tokens:
          Math.round(1e3 * (await count(`${taken("RateLimit")} + ${taken("rate_limits")}`))) / 1e3,
      };
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill("SIGKILL");
      await pool.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

const all = (n: number) => ({ messages: n, jobs: n, allJobs: n, tokens: n });
if (WHY !== undefined) {
  it("tokens, a row and a job of pg-boss are committed together", ({ skip }) => skip(WHY));
} else {
  describe.each(["with-prisma", "with-drizzle", "with-kysely", "with-pg"])("%s", (file) => {
    let at: Awaited<ReturnType<typeof openDatabase>>;
    beforeAll(async () => (at = await openDatabase()));
    afterAll(() => at[Symbol.asyncDispose]());

    it(
      "tokens, message and job are there or none, after a kill at each step",
      { timeout: 120_000 },
      async () => {
        const folder = await writeGuide(slowly);
        let sent = 0;
        for (const step of STEPS) {
          const { lines, exit } = at.start("sender.ts", folder, file, "2", step);
          expect(await exit).toEqual([null, "SIGKILL"]);
          // The first of the two, and the second one if it was committed.
          expect([step, lines.length]).toEqual([step, 1]);
          sent += step === "after the commit" ? 2 : 1;
          await expect.poll(at.counts, { message: step }).toEqual(all(sent));
        }
      },
    );

    it(
      "tokens, messages and jobs are as many, after kills at any time",
      { timeout: 120_000 },
      async () => {
        const folder = await writeGuide(slowly);
        for (const ms of [1, 7, 23]) {
          const { child, lines, exit } = at.start("sender.ts", folder, file, "1000");
          while (lines.length < 5 && child.exitCode === null) await setTimeout(5);
          expect(child.exitCode).toBe(null);
          await setTimeout(ms);
          child.kill("SIGKILL");
          await exit;
          await expect
            .poll(async () => {
              const { messages, jobs, allJobs, tokens } = await at.counts();
              return [jobs, allJobs, tokens].every((n) => n === messages);
            })
            .toBe(true);
        }
      },
    );
  });

  it("the guide compiles with the types of pg-boss", { timeout: 60_000 }, async () => {
    const folder = await writeGuide((code) => code);
    const config = {
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: {
        noImplicitAny: false,
        paths: { "pg-boss": [PG_BOSS.replace(".js", ".d.ts")] },
      },
      include: ["server"],
      exclude: [],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe("");
  });

  it("the worker runs no job before its reservation", { timeout: 120_000 }, async () => {
    await using at = await openDatabase();
    const folder = await writeGuide();
    const { lines, exit } = at.start("sender.ts", folder, "with-drizzle", "4");
    expect(await exit).toEqual([0, null]);
    const told = lines.map((line) => JSON.parse(line) as { id: number; startAfter: string });
    const {
      rows: [row],
    } = await at.pool.query<{ value: number; ts: number }>('SELECT value, ts FROM "RateLimit"');
    // When what is owed is repaid, at a token a second. The one before was due a second earlier.
    const paid = row!.ts - row!.value * 1000;
    const worker = at.start("worker.ts", folder);
    await expect
      .poll(async () => (await at.pool.query("SELECT id FROM delivered")).rowCount, {
        timeout: 60_000,
      })
      .toBe(4);
    const { rows } = await at.pool.query<{
      id: number;
      due: Date;
      started: Date;
      isInTime: boolean;
    }>(
      `SELECT (data->>'id')::int AS id, start_after AS due, started_on >= start_after AND at >= started_on AS "isInTime"
      FROM pgboss.job JOIN delivered ON delivered.id = (data->>'id')::int ORDER BY start_after`,
    );
    expect(rows.map(({ id }) => id)).toEqual(told.map(({ id }) => id));
    for (const [i, { due, isInTime }] of rows.entries()) {
      expect(due).toEqual(new Date(told[i]!.startAfter));
      expect(due.getTime()).toBeGreaterThanOrEqual(Math.floor(paid - (3 - i) * 1000));
      expect(isInTime).toBe(true);
    }
    worker.child.stdin.end();
    await worker.exit;
  });
}
