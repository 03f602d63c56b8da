/**
 * Runs a scenario: its contenders take turns, slice by slice, in processes of their own. Whatever
 * else the machine does then disturbs all alike, and a round's ratio compares what was measured
 * within seconds.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { accounts } from "./contenders.js";
import { connectPool, createTables } from "./database.js";
import { PLENTY, type Scenario } from "./scenarios.js";
import { median, quantile } from "./statistics.js";
import type { Order, Slice } from "./worker.js";

export interface Row {
  scenario: string;
  contender: string;
  /** The median of the rounds. */
  perSecond: number;
  p50: number;
  p99: number;
  failed: number;
  /** Grants that the rows do not account for: admitted beyond the limit, sooner or later. */
  unaccounted: number | undefined;
  rounds: { perSecond: number; p50: number }[];
}

export interface Timing {
  rounds: number;
  /** How long each contender runs per round, ms. */
  slice: number;
  /** How long it runs before that, ms: V8 takes seconds to compile what is called often. */
  warmUp: number;
}

export async function measure(
  scenario: Scenario,
  { rounds, slice, warmUp }: Timing,
): Promise<Row[]> {
  const { title, tokens, keys, waiting, processes, alternating = false } = scenario;
  await createTables();
  // Those who alternate call by call have to share a process.
  const turns = alternating ? [scenario.contenders] : scenario.contenders.map((name) => [name]);
  const teams = await Promise.all(
    turns.map(async (names) => {
      const workers = Array.from({ length: processes }, startWorker);
      const tell = (order: Order) => Promise.all(workers.map((worker) => worker(order)));
      await tell({ type: "open", contenders: names, tokens });
      return { names, tell };
    }),
  );

  const seen = new Map(scenario.contenders.map((name) => [name, [] as Slice[]]));
  // The first round is the warm-up; its grants are in the rows like all others.
  for (let round = 0; round <= rounds; round++) {
    for (const { names, tell } of teams) {
      const duration = (round === 0 ? warmUp : slice) * names.length;
      const parts = await tell({ type: "run", contenders: names, keys, waiting, duration });
      for (const [i, name] of names.entries()) {
        seen.get(name)!.push(merge(parts.map((part) => part[i]!)));
      }
    }
  }
  await Promise.all(teams.map(({ tell }) => tell({ type: "close" })));

  return Promise.all(
    [...seen].map(async ([contender, slices]): Promise<Row> => {
      const counted = slices.slice(1);
      const latencies = counted.flatMap((part) => part.latencies);
      const each = counted.map((part) => ({
        perSecond: (part.calls / part.busy) * 1000,
        p50: median(part.latencies),
      }));
      const granted = slices.reduce((sum, part) => sum + part.granted, 0);
      return {
        scenario: title,
        contender,
        perSecond: median(each.map(({ perSecond }) => perSecond)),
        p50: median(latencies),
        p99: quantile(latencies, 0.99),
        failed: slices.reduce((sum, part) => sum + part.failed, 0),
        unaccounted: await unaccounted(contender, tokens, granted),
        rounds: each,
      };
    }),
  );
}

function startWorker(): (order: Order) => Promise<Slice[]> {
  const file = fileURLToPath(new URL("worker.ts", import.meta.url));
  const child: ChildProcess = fork(file, { execArgv: ["--import", "tsx"] });
  return (order) =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`a worker ended: ${code}`));
      child.once("exit", ended);
      child.once("message", (slices) => {
        child.off("exit", ended);
        resolve(slices as Slice[]);
      });
      child.send(order);
    });
}

/** The slices of several processes that ran at the same time, as one. */
function merge(parts: readonly Slice[]): Slice {
  const sum = (pick: (part: Slice) => number) => parts.reduce((all, part) => all + pick(part), 0);
  return {
    calls: sum(({ calls }) => calls),
    granted: sum(({ granted }) => granted),
    failed: sum(({ failed }) => failed),
    busy: sum(({ busy }) => busy) / parts.length,
    latencies: parts.flatMap(({ latencies }) => latencies),
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
