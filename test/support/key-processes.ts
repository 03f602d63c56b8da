/** Processes that share a database. Each does its work for every key that a test writes to it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "./database.js";
import type { StoreKind } from "./open-store.js";
import { createRedisRows, redisUrl } from "./redis-rows.js";

type SharedDatabase = [kind: StoreKind, open: () => Promise<AsyncDisposable & { url: string }>];

/** Databases with a server. */
export const serverDatabases: SharedDatabase[] = [
  ["pg", createPostgres],
  ...(mysqlUrl === undefined ? [] : ([["mysql", createMysql]] satisfies SharedDatabase[])),
  ...(redisUrl === undefined
    ? []
    : ([["redis", async () => createRedisRows()]] satisfies SharedDatabase[])),
];

/** These, and the two that are reached in another way. */
export const processDatabases: SharedDatabase[] = [
  ["sqlite", createSqlite],
  ["postgresql", createPostgres],
  ...serverDatabases,
];

/** Starts a program, which ends with the test. Resolves once it has printed a line. */
export async function startLines(program: string, ...args: string[]) {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout);
  await once(lines, "line");
  return { child, lines };
}

/** The same with a program that prints a line of JSON for each part of its work, and "done". */
export async function startWorker<TPart>(program: string, ...args: string[]) {
  const { child, lines } = await startLines(program, ...args);
  let parts: TPart[] = [];
  let isDone = false;
  // Every line counts, also those that come while the test waits for something else.
  lines.on("line", (line) => {
    if (line === "done") isDone = true;
    else parts.push(JSON.parse(line) as TPart);
  });
  return {
    /** Resolves with the parts of the work for a key: all of them, or so many of them at least. */
    async work(key: string, atLeast: number = Infinity): Promise<TPart[]> {
      [parts, isDone] = [[], false];
      child.stdin.write(`${key}\n`);
      while (!isDone && parts.length < atLeast) await once(lines, "line");
      return parts;
    },
    /** Kills the process, and resolves with what it had printed by then. */
    async kill(): Promise<TPart[]> {
      child.kill("SIGKILL");
      await once(lines, "close");
      return parts;
    },
  };
}
