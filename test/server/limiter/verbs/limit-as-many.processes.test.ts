/** Three processes take as many tokens as fit, until none are left. One process is killed in the middle. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";
import { createRedisRows, redisUrl } from "../../../support/redis-rows.js";
import { COUNTS, limits } from "../../../support/take-as-many.js";

const PROCESS = await bundleProgram(new URL("../../../support/take-as-many.ts", import.meta.url));
const CAPACITY = limits.tokens.rate;
const CALLERS = 4;
/** The most tokens of the calls in flight in one process. */
const IN_FLIGHT = CALLERS * Math.max(...COUNTS);

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

type Call = [count: number, granted: number];

/** Starts a process. It ends with the test. */
async function start(kind: StoreKind, url: string) {
  const args = [PROCESS, kind, url, String(CALLERS)];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout!);
  await once(lines, "line");
  let calls: Call[] = [];
  let isDone = false;
  // Every line counts, also those that come while the test waits for something else.
  lines.on("line", (line) => {
    if (line === "done") isDone = true;
    else calls.push(JSON.parse(line) as Call);
  });
  return {
    /** Resolves with its grants for a key: all of them, or so many of them at least. */
    async take(key: string, atLeast: number = Infinity): Promise<Call[]> {
      [calls, isDone] = [[], false];
      child.stdin!.write(`${key}\n`);
      while (!isDone && calls.length < atLeast) await once(lines, "line");
      return calls;
    },
    /** Kills it, and resolves with what it had printed by then. */
    async kill(): Promise<Call[]> {
      child.kill("SIGKILL");
      await once(lines, "close");
      return calls;
    },
  };
}

const sumOf = (calls: readonly Call[]) => calls.reduce((sum, [, granted]) => sum + granted, 0);

it.each(databases)(
  "three processes are granted exactly the capacity, and leave nothing (%s)",
  async (kind, open) => {
    const database = await open();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { store, close } = openStore(kind, database.url);
    onTestFinished(close);
    const limiter = createRateLimiter({ store, limits, timeout: 20_000, clock: () => DAY });
    const left = async (key: string) => (await limiter.getValue("tokens", { key })).value;
    const processes = await Promise.all([0, 1, 2].map(() => start(kind, database.url)));

    const calls = (await Promise.all(processes.map(({ take }) => take("all")))).flat();
    expect(sumOf(calls)).toBe(CAPACITY);
    expect(await left("all")).toBe(0);
    for (const [count, granted] of calls) {
      expect(granted).toBeLessThanOrEqual(count);
      expect(granted).toBeGreaterThanOrEqual(1);
    }
    // Only the call that took the last token can have got fewer tokens than it wanted.
    expect(calls.filter(([count, granted]) => granted < count).length).toBeLessThanOrEqual(1);

    const [killed, ...others] = processes;
    const going = others.map(({ take }) => take("killed"));
    await killed!.take("killed", 10);
    const told = await killed!.kill();
    told.push(...(await Promise.all(going)).flat());
    expect(await left("killed")).toBe(0);
    // Only the answers to the calls in flight are lost.
    expect(sumOf(told)).toBeLessThanOrEqual(CAPACITY);
    expect(sumOf(told)).toBeGreaterThanOrEqual(CAPACITY - IN_FLIGHT);
  },
  60_000,
);
