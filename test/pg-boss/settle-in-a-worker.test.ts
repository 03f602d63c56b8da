/** The second half of the guide to durable work: a worker settles by id what a procedure has held. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, pgStore } from "../../server/index.js";
import { fromHere, openDatabase, WHY, writeGuide } from "./guide.js";

const RATE = 1_000_000;
/** What the procedure takes for "why?". */
const ESTIMATE = 2_004;
/** What the model uses when it is asked for the first and the second time. */
const [FIRST, SECOND] = [600, 700];
const llmTokens = {
  kind: "fixed window",
  rate: RATE,
  period: 1e12,
  start: 0,
  holds: true,
} as const;

/** No month ends meanwhile, and pg-boss looks each second for jobs that were left. */
const watchful = (code: string) =>
  fromHere(code)
    .replace('period: "month"', "period: 1e12")
    .replace(
      'new PgBoss(process.env["DATABASE_URL"]!)',
      `new PgBoss({ connectionString: process.env["DATABASE_URL"]!, superviseIntervalSeconds: 1,
        monitorIntervalSeconds: 1 })`,
    );
/** Holds lapse after a ms. */
const hasty = (code: string) => watchful(code).replace("for: HOUR", "for: 1");

async function open() {
  const at = await openDatabase();
  await at.pool.query("CREATE TABLE asked (prompt TEXT NOT NULL)");
  await at.pool.query('CREATE UNIQUE INDEX ON "Message" (visitor, nonce)');
  const store = pgStore(at.pool, { table: "rate_limits" });
  const limiter = createRateLimiter({ store, limits: { llmTokens } });
  const count = async (text: string, ...values: string[]) =>
    Number((await at.pool.query<{ n: string }>(`SELECT count(*) AS n ${text}`, values)).rows[0]!.n);
  return {
    ...at,
    limiter,
    /** Calls the procedure in a process. @returns the id of its hold. */
    async ask(folder: string, user: string, prompt = "why?") {
      const { lines, exit } = at.start("asker.ts", folder, user, prompt);
      expect(await exit).toEqual([0, null]);
      return (JSON.parse(lines[0]!) as { once: string }).once;
    },
    /** What the user has: tokens used or held, tokens held, messages, and jobs that are over. */
    async has(user: string) {
      const { value, held } = await limiter.getValue("llmTokens", { key: user });
      return {
        taken: RATE - value,
        held,
        messages: await count('FROM "Message" WHERE visitor = $1', user),
        done: await count(
          "FROM pgboss.job WHERE name = 'answers' AND state = 'completed' AND data->>'key' = $1",
          user,
        ),
      };
    },
    asked: (prompt: string) => count("FROM asked WHERE prompt = $1", prompt),
    /** As if the time that pg-boss gives a worker had passed. */
    async expireJobs() {
      const { rowCount } = await at.pool.query(
        "UPDATE pgboss.job SET started_on = started_on - interval '1 hour' WHERE state = 'active'",
      );
      return rowCount;
    },
    async textOf(user: string) {
      const text = 'SELECT text FROM "Message" WHERE visitor = $1';
      return (await at.pool.query<{ text: string }>(text, [user])).rows.map((row) => row.text);
    },
  };
}

/** Whether a process stands still. */
async function isStopped(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]);
  return stdout.startsWith("T");
}

const parsed = (lines: string[]) => lines.map((line) => JSON.parse(line) as unknown);
const waiting = { timeout: 60_000 };

if (WHY !== undefined) {
  it("a worker settles what a procedure has held", ({ skip }) => skip(WHY));
} else {
  describe("a worker that settles by id", { timeout: 120_000 }, () => {
    let at: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => (at = await open()));
    afterAll(() => at[Symbol.asyncDispose]());

    /** Starts a worker, which ends with the test: it would take the jobs of the next one. */
    function startWorker(folder: string, ...args: string[]) {
      const worker = at.start("answering.ts", folder, ...args);
      onTestFinished(async () => {
        worker.child.kill("SIGKILL");
        await worker.exit;
      });
      return worker;
    }

    it("settles what it has used, with the message and the end of the job", async () => {
      const folder = await writeGuide(watchful);
      const id = await at.ask(folder, "ann");
      expect(await at.has("ann")).toEqual({
        taken: ESTIMATE,
        held: ESTIMATE,
        messages: 0,
        done: 0,
      });
      expect(await at.limiter.holds("llmTokens", { key: "ann" })).toMatchObject([
        { once: id, count: ESTIMATE, then: "keep" },
      ]);
      const worker = startWorker(folder);
      const settled = { taken: FIRST, held: 0, messages: 1, done: 1 };
      await expect.poll(() => at.has("ann"), waiting).toEqual(settled);
      await expect.poll(() => parsed(worker.lines)).toMatchObject([{ settled: true }]);
      expect(await at.has("ann")).toEqual(settled);
    });

    it.each(["before the settlement", "after the settlement", "after the row", "after the job"])(
      "is killed %s, and the next try settles",
      async (step) => {
        const folder = await writeGuide(watchful);
        const [user, prompt] = [step, `why ${step}?`];
        const estimate = 2_000 + prompt.length;
        await at.ask(folder, user, prompt);
        const { lines, exit } = startWorker(folder, step, "SIGKILL");
        expect(await exit).toEqual([null, "SIGKILL"]);
        expect(lines).toEqual([]);
        // The database rolls back once it sees that the process is gone.
        await expect
          .poll(() => at.has(user))
          .toEqual({ taken: estimate, held: estimate, messages: 0, done: 0 });
        expect(await at.expireJobs()).toBe(1);
        startWorker(folder);
        await expect
          .poll(() => at.has(user), waiting)
          .toEqual({ taken: SECOND, held: 0, messages: 1, done: 1 });
        expect(await at.asked(prompt)).toBe(2);
      },
    );

    it("is killed after the commit, and there is no next try", async () => {
      const folder = await writeGuide(watchful);
      await at.ask(folder, "bob", "why, bob?");
      const { exit } = startWorker(folder, "after the commit", "SIGKILL");
      expect(await exit).toEqual([null, "SIGKILL"]);
      expect(await at.expireJobs()).toBe(0);
      expect(await at.has("bob")).toEqual({ taken: FIRST, held: 0, messages: 1, done: 1 });
      expect(await at.asked("why, bob?")).toBe(1);
    });

    it("settles once where two workers have the same job", async () => {
      const folder = await writeGuide(watchful);
      await at.ask(folder, "cleo", "why, cleo?");
      const slow = startWorker(folder, "before the settlement", "SIGSTOP");
      await expect.poll(() => at.asked("why, cleo?"), waiting).toBe(1);
      await expect.poll(() => isStopped(slow.child.pid!)).toBe(true);
      expect(await at.expireJobs()).toBe(1);
      startWorker(folder);
      const settled = { taken: SECOND, held: 0, messages: 1, done: 1 };
      await expect.poll(() => at.has("cleo"), waiting).toEqual(settled);
      slow.child.kill("SIGCONT");
      await expect
        .poll(() => parsed(slow.lines), waiting)
        .toEqual([{ settled: false, reason: "settled" }]);
      expect(await at.has("cleo")).toEqual(settled);
      expect(await at.textOf("cleo")).toEqual(["answer 2"]);
    });

    it("keeps the estimate where the provider reports no use", async () => {
      const folder = await writeGuide(watchful);
      await at.ask(folder, "dan", "no figure");
      startWorker(folder);
      await expect
        .poll(() => at.has("dan"), waiting)
        .toEqual({ taken: 2_009, held: 0, messages: 1, done: 1 });
    });

    it("gives all back when the last try has failed", async () => {
      const folder = await writeGuide(watchful);
      await at.ask(folder, "eve", "refuse");
      const worker = startWorker(folder);
      await expect
        .poll(() => parsed(worker.lines), waiting)
        .toMatchObject([{ released: true, count: 2_006 }]);
      expect(await at.has("eve")).toEqual({ taken: 0, held: 0, messages: 0, done: 0 });
      expect(await at.asked("refuse")).toBe(3);
    });

    it("finds a hold that has lapsed, and answers for the estimate", async () => {
      const folder = await writeGuide(hasty);
      await at.ask(folder, "fay", "why, fay?");
      // The next call of the key is denied, and finds that the hold is over.
      const denied = await at.limiter.limit("llmTokens", { key: "fay", count: RATE });
      expect(denied.ok).toBe(false);
      const lapsed = { taken: 2_009, held: 0 };
      expect(await at.has("fay")).toEqual({ ...lapsed, messages: 0, done: 0 });
      const worker = startWorker(folder);
      await expect
        .poll(() => parsed(worker.lines), waiting)
        .toEqual([{ settled: false, reason: "kept" }]);
      expect(await at.has("fay")).toEqual({ ...lapsed, messages: 1, done: 1 });
    });
  });
}
