/** The guide to durable work: its own code, on PostgreSQL and pg-boss, in processes that are killed. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../docs/pages.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { fromHere, openDatabase, PG_BOSS, WHY, writeGuide } from "./guide.js";

type Database = Awaited<ReturnType<typeof openDatabase>>;

const STEPS = [
  "before the limit",
  "after the limit",
  "after the row",
  "after the job",
  "after the commit",
];

/** What the page says of `pg` in one row of a table. */
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

/** Half a year for each token, and as many as the test needs. */
const slowly = (code: string) =>
  fromHere(code)
    .replace("period: MINUTE", "period: 1e12")
    .replace("maxReserved: 100", "maxReserved: 1e4");

/** The guide's files, and one more for `pg`. */
async function writeWithPg(edit: (code: string) => string): Promise<string> {
  const folder = await writeGuide(edit);
  await writeFile(join(folder, "server/with-pg.ts"), WITH_PG);
  return folder;
}

/** Messages, jobs, and tokens that were taken of a bucket that does not refill meanwhile. */
async function counts({ pool }: Database) {
  const count = async (text: string) =>
    Number((await pool.query<{ n: string }>(`SELECT ${text} AS n`)).rows[0]!.n);
  // A debt is below 0, and comes on top of the one token of the bucket.
  const taken = (table: string) =>
    `(SELECT coalesce(sum(CASE WHEN used < 0 THEN 1 - used ELSE used END), 0) FROM "${table}")`;
  return {
    messages: await count('(SELECT count(*) FROM "Message")'),
    jobs: await count(
      `(SELECT count(*) FROM pgboss.job JOIN "Message" ON (data->>'id')::int = "Message".id)`,
    ),
    allJobs: await count("(SELECT count(*) FROM pgboss.job WHERE name = 'deliver')"),
    tokens:
      Math.round(1e3 * (await count(`${taken("RateLimit")} + ${taken("rate_limits")}`))) / 1e3,
  };
}

const all = (n: number) => ({ messages: n, jobs: n, allJobs: n, tokens: n });
if (WHY !== undefined) {
  it("tokens, a row and a job of pg-boss are committed together", ({ skip }) => skip(WHY));
} else {
  describe.each(["with-prisma", "with-drizzle", "with-kysely", "with-pg"])("%s", (file) => {
    let at: Database;
    beforeAll(async () => (at = await openDatabase()));
    afterAll(() => at[Symbol.asyncDispose]());

    it(
      "tokens, message and job are there or none, after a kill at each step",
      { timeout: 120_000 },
      async () => {
        const folder = await writeWithPg(slowly);
        let sent = 0;
        for (const step of STEPS) {
          const { lines, exit } = at.start("sender.ts", folder, file, "2", step);
          expect(await exit).toEqual([null, "SIGKILL"]);
          // The first of the two, and the second one if it was committed.
          expect([step, lines.length]).toEqual([step, 1]);
          sent += step === "after the commit" ? 2 : 1;
          await expect.poll(() => counts(at), { message: step }).toEqual(all(sent));
        }
      },
    );

    it(
      "tokens, messages and jobs are as many, after kills at any time",
      { timeout: 120_000 },
      async ({ skip }) => {
        if (!isNightly) skip(NIGHTLY_ONLY);
        const folder = await writeWithPg(slowly);
        for (const ms of [1, 7, 23]) {
          const { child, lines, exit } = at.start("sender.ts", folder, file, "1000");
          while (lines.length < 5 && child.exitCode === null) await setTimeout(5);
          expect(child.exitCode).toBe(null);
          await setTimeout(ms);
          child.kill("SIGKILL");
          await exit;
          await expect
            .poll(async () => {
              const { messages, jobs, allJobs, tokens } = await counts(at);
              return [jobs, allJobs, tokens].every((n) => n === messages);
            })
            .toBe(true);
        }
      },
    );
  });

  it("the guide compiles with the types of pg-boss", { timeout: 60_000 }, async () => {
    const folder = await writeWithPg((code) => code);
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
    } = await at.pool.query<{ used: number; ts: number }>('SELECT used, ts FROM "RateLimit"');
    // When what is owed is repaid, at a token a second. The one before was due a second earlier.
    const paid = row!.ts - row!.used * 1000;
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
