/** Three processes pay from one plan and one balance. One process is killed in the middle. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY, type PaidCount } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";
import { limits } from "../../../support/pay-first.js";
import { createRedisRows, redisUrl } from "../../../support/redis-rows.js";

const PROCESS = await bundleProgram(new URL("../../../support/pay-first.ts", import.meta.url));
const PLAN = limits.plan.rate;
const CREDITS = 303;
const CALLERS = 4;
/** Tokens of the calls in flight: two callers take one token at a time, and two of them three. */
const IN_FLIGHT = 2 * (1 + 3);

type Database = AsyncDisposable & { url: string };

const databases: [kind: StoreKind, open: () => Promise<Database>][] = [
  ["sqlite", createSqlite],
  ["pg", createPostgres],
  ["postgresql", createPostgres],
  ...(mysqlUrl === undefined
    ? []
    : ([["mysql", createMysql]] as [StoreKind, () => Promise<Database>][])),
  ...(redisUrl === undefined
    ? []
    : ([["redis", async () => createRedisRows()]] as [StoreKind, () => Promise<Database>][])),
];

/** Starts a process. It ends with the test. */
async function start(kind: StoreKind, url: string) {
  const args = [PROCESS, kind, url, String(CALLERS)];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout!);
  await once(lines, "line");
  let paid: PaidCount[][] = [];
  let isDone = false;
  // Every line counts, also those that come while the test waits for something else.
  lines.on("line", (line) => {
    if (line === "done") isDone = true;
    else paid.push(JSON.parse(line) as PaidCount[]);
  });
  return {
    child,
    /** Resolves with what it has paid for a key: in all calls, or in so many of them at least. */
    async pay(key: string, calls: number = Infinity): Promise<PaidCount[][]> {
      [paid, isDone] = [[], false];
      child.stdin!.write(`${key}\n`);
      while (!isDone && paid.length < calls) await once(lines, "line");
      return paid;
    },
    /** Kills it, and resolves with what it had printed by then. */
    async kill(): Promise<PaidCount[][]> {
      child.kill("SIGKILL");
      await once(lines, "close");
      return paid;
    },
  };
}

function sumOf(calls: readonly PaidCount[][], name: string): number {
  return calls.flat().reduce((sum, paid) => sum + (paid.name === name ? paid.count : 0), 0);
}

it.each(databases)(
  "three processes take from plan and credits together exactly what was there (%s)",
  async (kind, open) => {
    const database = await open();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { store, close } = openStore(kind, database.url);
    onTestFinished(close);
    const limiter = createRateLimiter({ store, limits, timeout: 20_000, clock: () => DAY });
    const left = async (key: string) => [
      (await limiter.getValue("plan", { key })).value,
      (await limiter.getValue("credits", { key })).value,
    ];
    for (const key of ["all", "killed"]) await limiter.credit("credits", { key, count: CREDITS });
    const processes = await Promise.all([0, 1, 2].map(() => start(kind, database.url)));

    const calls = (await Promise.all(processes.map(({ pay }) => pay("all")))).flat();
    expect([sumOf(calls, "plan"), sumOf(calls, "credits")]).toEqual([PLAN, CREDITS]);
    expect(await left("all")).toEqual([0, 0]);
    // The credits pay only for what the plan lacks.
    expect(calls.filter((paid) => paid.length === 2).length).toBeLessThanOrEqual(1);

    const [killed, ...others] = processes;
    const going = others.map(({ pay }) => pay("killed"));
    await killed!.pay("killed", 10);
    const seen = await left("killed");
    const told = await killed!.kill();
    told.push(...(await Promise.all(going)).flat());
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(0);
    expect(await left("killed")).toEqual([0, 0]);
    // Only the answers to the calls in flight are lost.
    const total = sumOf(told, "plan") + sumOf(told, "credits");
    expect(total).toBeLessThanOrEqual(PLAN + CREDITS);
    expect(total).toBeGreaterThanOrEqual(PLAN + CREDITS - IN_FLIGHT);
  },
  60_000,
);
