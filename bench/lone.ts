/**
 * The CPU of a lone call, µs: in the process that calls, and in the thread of the server that answers. A
 * limiter, the peer on the same client library, and a query that does nothing take turns. The cost of a
 * call beyond the cost of this query is the cost of the limiter.
 *
 * Each of these three is measured twice. The first time, nothing else runs, so that all code and data
 * stay in the caches. The second time, a busy process per core stands for the application's own work
 * between two calls, which takes the caches; see `busy-caches.ts`. The CPU of the busy processes is not
 * counted.
 *
 * A call that writes waits for the disk. On a busy disk, the call then finds colder caches than the query
 * that does nothing. `?options=-c%20synchronous_commit%3Doff` in `BENCH_POSTGRES_URL` removes this wait.
 *
 * Arguments choose clients: a client is measured if its name contains one of the arguments.
 */
import { cpus } from "node:os";
import { disturbCaches } from "./busy-caches.js";
import { bundle } from "./bundle.js";
import { describeServers, isThere } from "./databases.js";
import { startWorker, type Timing, wayTo } from "./measure.js";
import { OWN_POOL, PEER, PG, PLENTY, PRISMA } from "./scenarios.js";
import { serverCpu, spentBetween } from "./server-cpu.js";
import { median } from "./statistics.js";

interface Probe {
  client: string;
  database: "postgresql" | "mysql" | "redis";
  empty: string;
  ours: string;
  peers: readonly string[];
}

const probes: readonly Probe[] = [
  { client: "pg", database: "postgresql", empty: "empty query, pg", ours: PG, peers: [PEER] },
  {
    client: "Prisma, own pool",
    database: "postgresql",
    // The store's own pool is one of `pg`.
    empty: "empty query, pg",
    ours: OWN_POOL,
    peers: [PEER],
  },
  {
    client: "Prisma",
    database: "postgresql",
    empty: "empty query, Prisma",
    ours: PRISMA,
    // The upsert is the lower bound: every limiter through Prisma pays for an upsert.
    peers: ["bare upsert, Prisma", "rate-limiter-flexible, Prisma"],
  },
  {
    client: "mysql2",
    database: "mysql",
    empty: "empty query, mysql2",
    ours: "ours, mysql2",
    peers: ["rate-limiter-flexible, MySQL"],
  },
  {
    client: "ioredis",
    database: "redis",
    empty: "GET, ioredis",
    ours: "ours, ioredis",
    peers: ["rate-limiter-flexible, ioredis"],
  },
];

const KEYS = 100;
/**
 * The fewest calls of each subject before it is measured. Time alone is no measure, because V8 compiles
 * code that is called often: in the same time, a query that does nothing is called ten times as often as
 * a limiter.
 */
const WARM_UP_CALLS = 3000;
/**
 * How long each subject runs before its slice, ms. The pool of the subject may have closed its connection
 * in the turns of the other subjects.
 */
const WAKE = 100;
const timing: Timing = {
  rounds: Number(process.env["BENCH_ROUNDS"] ?? 5),
  slice: Number(process.env["BENCH_MS"] ?? 1000),
  warmUp: Number(process.env["BENCH_WARM_UP_MS"] ?? 2000),
};

/** The CPU per call, µs. */
interface Cost {
  process: number;
  server: number | undefined;
}

interface Subject {
  name: string;
  warmUp(): Promise<void>;
  run(): Promise<Cost>;
  close(): Promise<unknown>;
}

async function openSubject(
  name: string,
  database: Probe["database"],
  url: string,
): Promise<Subject> {
  const tell = startWorker(file);
  await tell({ type: "open", contenders: [name], tokens: PLENTY, url });
  let called = 0;
  const call = async (duration: number) => {
    const order = { type: "run", contenders: [name], keys: KEYS, waiting: 1, duration } as const;
    const { calls, granted, cpu } = (await tell(order))[0]!;
    if (granted < calls) throw new Error(`${name}: ${calls - granted} of ${calls} calls failed`);
    called += calls;
    return { calls, cpu };
  };
  return {
    name,
    async warmUp() {
      do await call(timing.warmUp);
      while (called < WARM_UP_CALLS);
    },
    async run() {
      await call(WAKE);
      const before = await serverCpu(database, url);
      const { calls, cpu } = await call(timing.slice);
      const after = await serverCpu(database, url);
      const spent = before && after && spentBetween(before, after);
      return { process: cpu / calls, server: spent && spent / calls };
    },
    close: () => tell({ type: "close" }),
  };
}

/** The costs of each round, in turns. */
async function takeTurns(subjects: readonly Subject[]): Promise<Map<string, Cost[]>> {
  const seen = new Map(subjects.map(({ name }) => [name, [] as Cost[]]));
  for (const { warmUp } of subjects) await warmUp();
  for (let round = 0; round < timing.rounds; round++) {
    for (const { name, run } of subjects) seen.get(name)!.push(await run());
  }
  return seen;
}

function printRows(probe: Probe, caches: string, seen: ReadonlyMap<string, Cost[]>): void {
  const inAll = (name: string) => median(seen.get(name)!.map((cost) => cost.process));
  const beyond = (name: string) => inAll(name) - inAll(probe.empty);
  const onServer = (name: string) => {
    const costs = seen.get(name)!.flatMap(({ server }) => server ?? []);
    return costs.length === timing.rounds ? median(costs).toFixed(0) : "–";
  };
  for (const peer of probe.peers) {
    const cells = [
      probe.client,
      peer,
      caches,
      inAll(probe.ours).toFixed(0),
      beyond(probe.ours).toFixed(0),
      beyond(peer).toFixed(0),
      `${(beyond(probe.ours) / beyond(peer)).toFixed(2)}×`,
      onServer(probe.ours),
      onServer(peer),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

async function measureProbe(probe: Probe): Promise<void> {
  const { database, empty, ours, peers } = probe;
  const { url, stop } = await wayTo({ database, roundTrip: 0 });
  const subjects: Subject[] = [];
  for (const name of [empty, ours, ...peers]) {
    subjects.push(await openSubject(name, database, url));
  }
  printRows(probe, "warm", await takeTurns(subjects));
  const leaveCaches = await disturbCaches();
  printRows(probe, "disturbed", await takeTurns(subjects));
  leaveCaches();
  await Promise.all(subjects.map(({ close }) => close()));
  stop();
}

const words = process.argv.slice(2);
const file = await bundle("worker");
const machine = `${await describeServers()}, Node ${process.version}, ${cpus().length} cores`;
console.log(`\n${machine}; ${timing.rounds} rounds of ${timing.slice} ms\n`);
const head = ["client", "beside", "caches", "CPU µs per call", "beyond an empty query"];
console.log(`| ${[...head, "the peer's", "ours : peer", "server µs", "the peer's"].join(" | ")} |`);
console.log("| --- | --- | --- | --: | --: | --: | --: | --: | --: |");
for (const probe of probes) {
  if (words.length > 0 && !words.some((word) => probe.client.includes(word))) continue;
  if (await isThere(probe.database)) await measureProbe(probe);
  else console.error(`left out, no server: ${probe.client}`);
}
if (process.platform !== "linux")
  console.log("\nNo CPU of servers: it is read from /proc of Linux.");
