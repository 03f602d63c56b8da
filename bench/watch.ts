/**
 * `watch` at scale: one process serves many watchers over HTTP, and this process takes tokens on the same
 * database. Prints how many queries the watched process made, and how long after the commit of a change
 * each watcher heard of the change. Arguments: the number of watchers, `--interval MS` between two reads
 * for other processes' changes, and `--json FILE`.
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
  options: { json: { type: "string" }, interval: { type: "string", default: "500" } },
  allowPositionals: true,
});
const WATCHERS = Number(positionals[0] ?? 2000);
const ROUNDS = 10;
/** ms between two changes. */
const PAUSE = 2300;

await createTables("postgresql");
const child = fork(fileURLToPath(new URL("watch-server.ts", import.meta.url)), [values.interval], {
  execArgv: ["--expose-gc", "--import", "tsx"],
});
const [{ port }] = (await once(child, "message")) as [{ port: number }];
const prisma = connectPostgres(urls.postgresql);
const limiter = createRateLimiter({ store: prismaStore(prisma), limits });

async function ask(): Promise<{ queries: number; heapUsed: number; cpu: NodeJS.CpuUsage }> {
  const answer = once(child, "message");
  child.send("?");
  return (await answer)[0] as Awaited<ReturnType<typeof ask>>;
}

/**
 * The last value of each limit that each watcher was told, and the function to call for news of a
 * watcher.
 */
const told: Record<string, number>[] = Array.from({ length: WATCHERS }, () => ({}));
let onNews: (watcher: number) => void = () => {};
const requests: ClientRequest[] = [];
const agent = new Agent({ maxSockets: Infinity });

function watch(watcher: number): Promise<void> {
  const input = encodeURIComponent(
    JSON.stringify({ items: [{ name: "own" }, { name: "everybody" }] }),
  );
  return new Promise((resolve, reject) => {
    const request = get(
      {
        agent,
        port,
        path: `/rateLimit.watch?input=${input}`,
        headers: { "x-user": `user ${watcher}`, accept: "text/event-stream" },
      },
      (response) => {
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
      },
    );
    request.on("error", reject);
    requests.push(request);
  });
}

const connecting = performance.now();
for (let from = 0; from < WATCHERS; from += 100) {
  const some = Array.from({ length: Math.min(100, WATCHERS - from) }, (_, i) => watch(from + i));
  await Promise.all(some);
}
console.error(`${WATCHERS} watchers after ${Math.round(performance.now() - connecting)} ms`);

const before = await ask();
const from = performance.now();
const shared: number[] = [];
const own: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const next = from + (round + 1) * PAUSE;
  // Change the bucket that all watchers watch, and the own buckets of a tenth of the watchers.
  const some = Array.from({ length: WATCHERS / 10 }, (_, i) => i * 10 + round);
  const { value } = await limiter.limit("everybody");
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
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
}
const after = await ask();
const elapsed = performance.now() - from;
for (const request of requests) request.destroy();
await new Promise((resolve) => setTimeout(resolve, 2000));
const idle = await ask();
await new Promise((resolve) => setTimeout(resolve, 3000));
const later = await ask();
child.kill();
await prisma.$disconnect();

const machine = `${await describeServers()}, Node ${process.version}, ${cpus().length} cores`;
const busy = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system;
const result = {
  machine,
  watchers: WATCHERS,
  interval: Number(values.interval),
  queriesPerSecond: ((after.queries - before.queries) / elapsed) * 1000,
  queriesWhileNobodyWatches: later.queries - idle.queries,
  heardOfShared: {
    p50: quantile(shared, 0.5),
    p99: quantile(shared, 0.99),
    max: Math.max(...shared),
  },
  heardOfOwn: { p50: quantile(own, 0.5), p99: quantile(own, 0.99), max: Math.max(...own) },
  heapMB: { watched: after.heapUsed / 2 ** 20, afterwards: later.heapUsed / 2 ** 20 },
  cpuShare: busy / 1000 / elapsed,
};
console.log(JSON.stringify(result, null, 2));
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(result, null, 2));
process.exit(0);
