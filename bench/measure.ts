/**
 * Runs a scenario: its contenders take turns, slice by slice, in processes of their own. Other work of
 * the machine then disturbs all contenders alike, and a ratio of a round compares figures that were
 * measured within seconds.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.js";
import { contenders } from "./contenders.js";
import { ask, createTables, isRedis, type SqlDatabase, urls } from "./databases.js";
import { keyAt } from "./keys.js";
import { startRedis } from "./redis-servers.js";
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
  /** Grants that are missing in the rows: these calls are admitted beyond the limit, sooner or later. */
  unaccounted: number | undefined;
  /**
   * The calls of the process with the fewest calls, as a share of the calls of the process with the most.
   */
  fairness: number | undefined;
  rounds: { perSecond: number; p50: number; fairness: number }[];
}

export interface Timing {
  rounds: number;
  /** How long each contender runs per round, ms. */
  slice: number;
  /**
   * How long each contender runs before the rounds, ms: V8 takes seconds to compile code that is called
   * often.
   */
  warmUp: number;
}

export async function measure(
  scenario: Scenario,
  { rounds, slice, warmUp }: Timing,
): Promise<Row[]> {
  const { title, tokens, keys, waiting, processes, alternating } = scenario;
  const { url, stop } = await wayTo(scenario);
  const file = await (worker ??= bundle("worker"));
  // Contenders that alternate call by call have to share a process.
  const turns = alternating ? [scenario.contenders] : scenario.contenders.map((name) => [name]);
  const teams = await Promise.all(
    turns.map(async (names) => {
      const workers = Array.from({ length: processes }, () => startWorker(file));
      const tell = (order: Order) => Promise.all(workers.map((worker) => worker(order)));
      await tell({ type: "open", contenders: names, tokens, url });
      return { names, tell };
    }),
  );

  const seen = new Map(scenario.contenders.map((name) => [name, [] as Team[]]));
  // The first round is the warm-up; its grants are in the rows like all others.
  for (let round = 0; round <= rounds; round++) {
    for (const { names, tell } of teams) {
      const duration = (round === 0 ? warmUp : slice) * names.length;
      const parts = await tell({ type: "run", contenders: names, keys, waiting, duration });
      for (const [i, name] of names.entries()) {
        seen.get(name)!.push(together(parts.map((part) => part[i]!)));
      }
    }
  }
  await Promise.all(teams.map(({ tell }) => tell({ type: "close" })));

  const rows = await Promise.all(
    [...seen].map(async ([contender, slices]): Promise<Row> => {
      const counted = slices.slice(1);
      const latencies = counted.flatMap((part) => part.latencies);
      const each = counted.map((part) => ({
        perSecond: (part.calls / part.busy) * 1000,
        p50: median(part.latencies),
        fairness: part.fairness,
      }));
      const granted = slices.reduce((sum, part) => sum + part.granted, 0);
      const taken = await takenBy(contender, scenario, url);
      return {
        scenario: title,
        contender,
        perSecond: median(each.map(({ perSecond }) => perSecond)),
        p50: median(latencies),
        p99: quantile(latencies, 0.99),
        failed: slices.reduce((sum, part) => sum + part.failed, 0),
        unaccounted: taken === undefined ? undefined : granted - atMost(taken, tokens * keys),
        fairness: processes > 1 ? Math.min(...each.map(({ fairness }) => fairness)) : undefined,
        rounds: each,
      };
    }),
  );
  stop();
  return rows;
}

/** The tokens that were taken, by the rows; `undefined` where the rows are not counted. */
async function takenBy(
  contender: string,
  { database, tokens, keys }: Scenario,
  url: string,
): Promise<number | undefined> {
  const { account, count } = contenders[contender]!;
  if (account !== undefined) return ask(database as SqlDatabase, account(tokens));
  return count?.(
    tokens,
    url,
    Array.from({ length: keys }, (_, index) => keyAt(index)),
  );
}

/**
 * The tokens taken, at most all tokens: some contenders count denied calls, too, and only more grants
 * than tokens matter.
 */
function atMost(taken: number, tokens: number): number {
  return Math.min(taken, tokens === PLENTY ? Infinity : tokens);
}

/** The URL of the emptied database. With a `roundTrip`, the URL of a proxy that delays the answers. */
export async function wayTo({ database, roundTrip }: Pick<Scenario, "database" | "roundTrip">) {
  if (isRedis(database)) return startRedis(database === "redis cluster");
  await createTables(database);
  if (roundTrip === 0) return { url: urls[database], stop() {} };
  const url = new URL(urls[database]);
  const file = fileURLToPath(new URL("proxy.ts", import.meta.url));
  const args = ["--import", "tsx", file, url.hostname, url.port, String(roundTrip)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  url.hostname = "127.0.0.1";
  url.port = line.toString().trim();
  return { url: url.href, stop: () => void child.kill() };
}

/** The bundle of the worker, made once. */
let worker: Promise<string> | undefined;

export function startWorker(file: string): (order: Order) => Promise<Slice[]> {
  const child: ChildProcess = fork(file, { execArgv: [] });
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

interface Team extends Slice {
  /** See `Row.fairness`. */
  fairness: number;
}

/** The slices of several processes that ran at the same time, as one. */
function together(parts: readonly Slice[]): Team {
  const sum = (pick: (part: Slice) => number) => parts.reduce((all, part) => all + pick(part), 0);
  const calls = parts.map((part) => part.calls);
  return {
    calls: sum((part) => part.calls),
    granted: sum(({ granted }) => granted),
    failed: sum(({ failed }) => failed),
    busy: sum(({ busy }) => busy) / parts.length,
    cpu: sum(({ cpu }) => cpu),
    latencies: parts.flatMap(({ latencies }) => latencies),
    fairness: Math.min(...calls) / Math.max(...calls),
  };
}
