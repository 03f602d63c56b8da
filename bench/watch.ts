/**
 * `watch` at scale, over the router of tRPC and over the handler of HTTP in turns: one process serves many
 * watchers, and this process takes tokens on the same database. Prints how many queries the watched
 * process made, what it cost, and how long after the commit of a change each watcher heard of the change.
 * Arguments: the number of watchers, `--interval MS` between two reads for other processes' changes,
 * `--store memory`, where the watched process takes the tokens itself, and `--json FILE`.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { Agent, type ClientRequest, get } from "node:http";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createRateLimiter, prismaStore } from "trpc-rate-limit/server";
import { connectPostgres, createTables, describeServers, urls } from "./databases.js";
import { quantile } from "./statistics.js";
import { limits } from "./watch-limits.js";

const { values, positionals } = parseArgs({
  options: {
    json: { type: "string" },
    interval: { type: "string", default: "500" },
    store: { type: "string", default: "postgresql" },
  },
  allowPositionals: true,
});
const WATCHERS = Number(positionals[0] ?? 2000);
const isInMemory = values.store === "memory";
const ROUNDS = 10;
/** ms between two changes. */
const PAUSE = 2300;
/** ms of the measurements at rest, and of the questions for a status. */
const SPAN = 5000;
/** Questions for a status that are asked at a time. */
const ASKED_AT_A_TIME = 50;

const WATCHED = JSON.stringify([{ name: "own" }, { name: "everybody" }]);
const pathsOf = {
  router: {
    watch: `/rateLimit.watch?input=${encodeURIComponent(`{"items":${WATCHED}}`)}`,
    status: `/rateLimit.status?input=${encodeURIComponent('{"name":"own"}')}`,
  },
  handler: {
    watch: `/?action=watch&items=${encodeURIComponent(WATCHED)}`,
    status: "/?action=status&name=own",
  },
} as const;

interface Used {
  queries: number;
  heapUsed: number;
  cpu: NodeJS.CpuUsage;
}

const prisma = connectPostgres(urls.postgresql);
const limiter = createRateLimiter({ store: prismaStore(prisma), limits });

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const cpuOf = ({ cpu }: Used) => (cpu.user + cpu.system) / 1000;

async function measure(door: keyof typeof pathsOf) {
  await createTables("postgresql");
  const file = fileURLToPath(new URL("watch-server.ts", import.meta.url));
  const child = fork(file, [values.interval, door, values.store], {
    execArgv: ["--expose-gc", "--import", "tsx"],
  });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];

  async function ask<T = Used>(message: string = "?"): Promise<T> {
    const answer = once(child, "message");
    child.send(message);
    return (await answer)[0] as T;
  }

  /**
   * The last value of each limit that each watcher was told, and the function to call for news of a
   * watcher.
   */
  const told: Record<string, number>[] = Array.from({ length: WATCHERS }, () => ({}));
  let onNews: (watcher: number) => void = () => {};
  const requests: ClientRequest[] = [];
  const agent = new Agent({ maxSockets: Infinity, keepAlive: true });

  function watch(watcher: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { "x-user": `user ${watcher}`, accept: "text/event-stream" };
      const request = get({ agent, port, path: pathsOf[door].watch, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          const events = text.split("\n\n");
          text = events.pop()!;
          for (const event of events) {
            const data = /^data: (\{.*"name".*)$/m.exec(event)?.[1];
            if (data === undefined) continue;
            const { name, value } = JSON.parse(data) as { name: string; value: number };
            told[watcher]![name] = value;
            onNews(watcher);
          }
          if (Object.keys(told[watcher]!).length === 2) resolve();
        });
      });
      request.on("error", reject);
      requests.push(request);
    });
  }

  const unwatched = await ask();
  for (let first = 0; first < WATCHERS; first += 100) {
    const some = Array.from({ length: Math.min(100, WATCHERS - first) }, (_, i) =>
      watch(first + i),
    );
    await Promise.all(some);
  }
  await wait(2000);
  const rested = await ask();
  await wait(SPAN);
  const restedLater = await ask();

  const before = await ask();
  const from = performance.now();
  const shared: number[] = [];
  const own: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const next = from + (round + 1) * PAUSE;
    // Change the bucket that all watchers watch, and the own buckets of a tenth of the watchers.
    const some = isInMemory ? [] : Array.from({ length: WATCHERS / 10 }, (_, i) => i * 10 + round);
    const { value } = isInMemory
      ? await ask<{ value: number }>("take")
      : await limiter.limit("everybody");
    await Promise.all(some.map((watcher) => limiter.limit("own", { key: `user ${watcher}` })));
    const changed = performance.now();
    const waiting = new Set(told.keys());
    const waitingOwn = new Set(some);
    await new Promise<void>((resolve) => {
      onNews = (watcher) => {
        const late = performance.now() - changed;
        if (told[watcher]!["everybody"]! <= value && waiting.delete(watcher)) shared.push(late);
        if (told[watcher]!["own"]! < limits.own.rate && waitingOwn.delete(watcher)) own.push(late);
        if (waiting.size + waitingOwn.size === 0) resolve();
      };
      // Count the news that came since the changes.
      for (const watcher of told.keys()) onNews(watcher);
    });
    await wait(Math.max(0, next - performance.now()));
  }
  const after = await ask();
  const elapsed = performance.now() - from;
  for (const request of requests) request.destroy();
  await wait(2000);
  const idle = await ask();
  await wait(3000);
  const later = await ask();

  let answers = 0;
  const until = performance.now() + SPAN;
  async function askAgain(): Promise<void> {
    const url = `http://127.0.0.1:${port}${pathsOf[door].status}`;
    const headers = { "x-user": "user 1" };
    while (performance.now() < until) {
      await (await fetch(url, { headers })).arrayBuffer();
      answers++;
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_A_TIME }, askAgain));
  const asked = await ask();
  child.kill();
  await once(child, "exit");

  const atRest = (cpuOf(restedLater) - cpuOf(rested)) / SPAN;
  const busy = cpuOf(after) - cpuOf(before);
  const told50 = { p50: quantile(shared, 0.5), p99: quantile(shared, 0.99) };
  return {
    door,
    store: values.store,
    watchers: WATCHERS,
    interval: Number(values.interval),
    queriesPerSecond: ((after.queries - before.queries) / elapsed) * 1000,
    queriesWhileNobodyWatches: later.queries - idle.queries,
    heardOfShared: { ...told50, max: Math.max(...shared) },
    heardOfOwn: { p50: quantile(own, 0.5), p99: quantile(own, 0.99), max: Math.max(...own) },
    heapMB: { watched: after.heapUsed / 2 ** 20, afterwards: later.heapUsed / 2 ** 20 },
    heapPerWatcherKB: (rested.heapUsed - unwatched.heapUsed) / WATCHERS / 1024,
    cpuShare: busy / elapsed,
    cpuShareAtRest: atRest,
    /** ms of the process for each change of the bucket that all watch, without what it uses at rest. */
    cpuPerChange: (busy - atRest * elapsed) / ROUNDS,
    statusesPerSecond: (answers / SPAN) * 1000,
    cpuPerStatus: (cpuOf(asked) - cpuOf(later)) / answers,
  };
}

const results = [await measure("router"), await measure("handler")];
await prisma.$disconnect();
const machine = `${await describeServers()}, Node ${process.version}, ${cpus().length} cores`;
const printed = JSON.stringify({ machine, results }, null, 2);
console.log(printed);
if (values.json !== undefined) await writeFile(values.json, printed);
process.exit(0);
