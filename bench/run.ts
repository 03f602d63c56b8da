/**
 * Compares contenders scenario by scenario, one after the other on the same server, and prints
 * ratios: absolute numbers belong to the machine. `--json FILE` also writes all of it as JSON.
 */
import { fork } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { accounts, contenders, PLENTY } from "./contenders.js";
import { connectPool, createTables, describeServer } from "./database.js";
import { type Load, measure, type Measured } from "./measure.js";

const OURS = "trpc-rate-limit";
const PEER = "rate-limiter-flexible, PostgreSQL";
const BARE = "bare $queryRaw";
const DURATION = Number(process.env["BENCH_MS"] ?? 3000);

interface Scenario {
  title: string;
  keys: number;
  waiting: number;
  processes?: number;
  tokens?: number;
  /** Those that are too slow, or too wrong, to wait for are left out elsewhere. */
  contenders: readonly string[];
}

const all = Object.keys(contenders);
const fast = [OURS, PEER];
const scenarios: Scenario[] = [
  { title: "one caller, one key", keys: 1, waiting: 1, contenders: all },
  { title: "one key, 64 waiting", keys: 1, waiting: 64, contenders: all },
  { title: "one key, 512 waiting", keys: 1, waiting: 512, contenders: [...fast, BARE] },
  { title: "10,000 keys, 64 waiting", keys: 10_000, waiting: 64, contenders: all },
  { title: "10,000 keys, 512 waiting", keys: 10_000, waiting: 512, contenders: [...fast, BARE] },
  { title: "one key, 3 processes × 64", keys: 1, waiting: 64, processes: 3, contenders: fast },
  {
    title: "10,000 keys, 3 processes × 64",
    keys: 10_000,
    waiting: 64,
    processes: 3,
    contenders: fast,
  },
  { title: "one key, denied, 64 waiting", keys: 1, waiting: 64, tokens: 37, contenders: fast },
];

interface Row {
  scenario: string;
  contender: string;
  perSecond: number;
  p50: number;
  p99: number;
  failed: number;
  /** Grants that the rows do not account for: admitted beyond the limit, sooner or later. */
  unaccounted: number | undefined;
}

async function inProcesses(load: Load, processes: number): Promise<Measured> {
  if (processes === 1) return measure(load);
  const file = fileURLToPath(new URL("measure.ts", import.meta.url));
  const parts = await Promise.all(
    Array.from({ length: processes }, () => {
      const child = fork(file, { execArgv: ["--import", "tsx"] });
      child.send(load);
      return new Promise<Measured>((resolve, reject) => {
        child.once("message", (message) => resolve(message as Measured));
        child.once("exit", (code) => code !== 0 && reject(new Error(`a process ended: ${code}`)));
      });
    }),
  );
  const sum = (pick: (part: Measured) => number) => parts.reduce((all_, p) => all_ + pick(p), 0);
  return {
    calls: sum(({ calls }) => calls),
    granted: sum(({ granted }) => granted),
    failed: sum(({ failed }) => failed),
    latencies: parts.flatMap(({ latencies }) => latencies).sort((a, b) => a - b),
  };
}

async function unaccounted(contender: string, tokens: number, granted: number) {
  const query = accounts[contender]?.(tokens);
  if (query === undefined) return undefined;
  const pool = connectPool();
  const { rows } = await pool.query<{ taken: string | null }>(query);
  await pool.end();
  // Where calls are denied, some count them too; more grants than tokens is what matters.
  const taken = Math.min(Number(rows[0]!.taken ?? 0), tokens === PLENTY ? Infinity : tokens);
  return granted - taken;
}

const rows: Row[] = [];
for (const { title, keys, waiting, processes = 1, tokens = PLENTY, contenders: who } of scenarios) {
  for (const contender of who) {
    await createTables();
    const load = { contender, tokens, keys, waiting, duration: DURATION };
    const { calls, granted, failed, latencies } = await inProcesses(load, processes);
    const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? NaN;
    rows.push({
      scenario: title,
      contender,
      perSecond: (calls / DURATION) * 1000,
      p50: at(0.5),
      p99: at(0.99),
      failed,
      unaccounted: await unaccounted(contender, tokens, granted),
    });
    console.error(`measured ${title}: ${contender}`);
  }
}

const find = (scenario: string, contender: string) =>
  rows.find((row) => row.scenario === scenario && row.contender === contender)!;
const ratio = (scenario: string) => find(scenario, OURS).perSecond / find(scenario, PEER).perSecond;
const ratios = {
  "one key, 512 waiting, times rate-limiter-flexible": ratio("one key, 512 waiting"),
  "10,000 keys, 512 waiting, times rate-limiter-flexible": ratio("10,000 keys, 512 waiting"),
  "one key, 3 processes × 64, times rate-limiter-flexible": ratio("one key, 3 processes × 64"),
  "one caller's p50 in bare $queryRaw round trips":
    find("one caller, one key", OURS).p50 / find("one caller, one key", BARE).p50,
};

const machine = `${await describeServer()}, Node ${process.version}, ${cpus().length} cores`;
console.log(`\n${machine}, ${DURATION} ms each\n`);
console.log("| scenario | contender | calls/s | p50 ms | p99 ms | failed | unaccounted |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const row of rows) {
  const cells = [
    row.scenario,
    row.contender,
    Math.round(row.perSecond).toLocaleString("en"),
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    row.failed,
    row.unaccounted ?? "–",
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
console.log("");
for (const [name, value] of Object.entries(ratios)) console.log(`${value.toFixed(1)}  ${name}`);

const file = process.argv[process.argv.indexOf("--json") + 1];
if (process.argv.includes("--json") && file !== undefined) {
  await writeFile(file, JSON.stringify({ machine, duration: DURATION, ratios, rows }, null, 2));
}
