/**
 * `npm run simulate -- --seed 7` replays one simulation. `npm run simulate -- --minutes 5` looks for new
 * seeds that fail, on all cores, and prints the arguments that replay the smallest scenario of each.
 * `--planted` looks for defects that are put into the package on purpose.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Explored, explore, seedsFrom } from "./explore.js";
import type { DatabaseKind } from "./databases.js";
import { FAULTS, Tally } from "./faults.js";
import { loadShipped } from "./shipped.js";
import { find, PLANTED } from "./planted.js";
import { simulate } from "./simulate.js";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string", default: "1" },
    from: { type: "string" },
    step: { type: "string", default: "1" },
    database: { type: "string" },
    processes: { type: "string" },
    pages: { type: "string" },
    duration: { type: "string" },
    without: { type: "string", multiple: true },
    planted: { type: "boolean", default: false },
    worker: { type: "boolean", default: false },
  },
});

const database = values.database as DatabaseKind | undefined;

type Plain = Omit<Explored, "faults" | "kinds" | "reached"> &
  Record<"faults" | "kinds" | "reached", [string, number][]>;

if (values.seed !== undefined) await replay(Number(values.seed));
else if (values.planted) await findPlanted();
else if (values.worker) await work();
else await exploreOnAllCores();

async function replay(seed: number): Promise<void> {
  const report = await simulate(await loadShipped(), seed, {
    ...(database && { database }),
    ...(values.processes && { processes: Number(values.processes) }),
    ...(values.pages && { pages: Number(values.pages) }),
    ...(values.duration && { duration: Number(values.duration) }),
    ...(values.without && { without: values.without }),
  });
  console.log(JSON.stringify(report.scenario, undefined, 2));
  console.table(Object.fromEntries(report.calls.counts));
  console.table(Object.fromEntries(report.faults.counts));
  for (const problem of report.problems) console.error(problem);
  console.log(report.problems.length === 0 ? "Nothing is wrong." : "This is wrong.");
  process.exitCode = report.problems.length === 0 ? 0 : 1;
}

async function findPlanted(): Promise<void> {
  for (const planted of PLANTED) {
    const { defect, seed, seconds, calls, problem } = await find(
      planted,
      60 * Number(values.minutes),
    );
    const found = seed === undefined ? "NOT FOUND" : `seed ${seed}: ${problem}`;
    console.log(`${defect}\n  ${seconds.toFixed(1)} s, ${calls} calls, ${found}`);
    if (seed === undefined) process.exitCode = 1;
  }
}

async function work(): Promise<void> {
  const start = await loadShipped();
  const until = Date.now() + Number(values.minutes) * 60_000;
  const explored = await explore(start, {
    seeds: seedsFrom(Number(values.from), Number(values.step)),
    shouldContinue: () => Date.now() < until,
    shrinks: true,
    ...(database && { cut: { database } }),
  });
  const plain = {
    ...explored,
    faults: [...explored.faults.counts],
    kinds: [...explored.kinds.counts],
    reached: [...explored.reached.counts],
  } satisfies Plain;
  process.send!(plain, undefined, undefined, () => process.disconnect());
}

async function exploreOnAllCores(): Promise<void> {
  const jobs = availableParallelism();
  const first = Number(values.from ?? Math.floor(Math.random() * 2 ** 30));
  const startedAt = performance.now();
  const parts = await Promise.all(
    Array.from({ length: jobs }, (_, i) => {
      const args = ["--worker", "--minutes", values.minutes, "--from", `${first + i}`];
      const forced = database === undefined ? [] : ["--database", database];
      const child = fork(
        fileURLToPath(import.meta.url),
        [...args, "--step", `${jobs}`, ...forced],
        {
          execArgv: process.execArgv,
        },
      );
      return new Promise<Plain>((resolve, reject) => {
        child.once("message", (message) => resolve(message as Plain));
        child.once("exit", (code) => reject(new Error(`a worker has ended with ${code}`)));
      });
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const sum = (of: (part: Plain) => number) => parts.reduce((total, part) => total + of(part), 0);
  const tables = { faults: new Tally(), kinds: new Tally(), reached: new Tally() };
  for (const fault of FAULTS) tables.faults.note(fault, 0);
  for (const part of parts) {
    for (const name of ["faults", "kinds", "reached"] as const) {
      for (const [what, count] of part[name]) tables[name].note(what, count);
    }
  }
  for (const { counts } of Object.values(tables)) console.table(Object.fromEntries(counts));
  const calls = sum((part) => part.calls);
  console.log(
    `${sum((part) => part.seeds)} seeds from ${first}, ${calls} calls ` +
      `(${Math.round(calls / seconds)} a second), ${Math.round(sum((part) => part.time) / 1000)} s of virtual time`,
  );
  const failures = parts.flatMap((part) => part.failures);
  for (const failure of failures) {
    console.error(`npm run simulate -- ${failure.replay}\n  ${failure.problem}`);
  }
  const silent = [...tables.faults.counts].filter(([, count]) => count === 0).map(([name]) => name);
  if (silent.length > 0) console.warn(`never happened: ${silent.join(", ")}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
