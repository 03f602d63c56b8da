/** Races three processes: the same buckets, at the same time, while one of them is killed. */
import { randomUUID } from "node:crypto";
import { DAY } from "../../core/durations.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { messageOf } from "../doctor/finding.js";
import { type Racer, type RoundPlan, type RoundResult, runRound } from "./round.js";
import { within } from "./waits.js";

export interface RaceResult {
  kind: RateLimitConfig["kind"];
  keys: number;
  /** Whether one of the processes was killed in each round. */
  isKilled: boolean;
  rounds: number;
  granted: number;
  tokens: number;
  /** Tokens that killed processes have taken without getting the answer. */
  lost: number;
  /** The median of the calls, ms. */
  median: number;
  /** What has not held. */
  problems: string[];
}

interface RaceOptions {
  startRacer: () => Promise<Racer>;
  valueOf: (key: string, config: RateLimitConfig) => Promise<number>;
  onResult: (result: RaceResult) => void;
  /** Called after each round that has not held. Ends the race if it rejects. */
  onFailure?: () => Promise<void>;
  /** Ends the race before the next round. */
  signal: AbortSignal;
}

const RACERS = 3;
/** Tokens of a bucket, by the number of keys. Two racers ask for more. */
const TOKENS: readonly [keys: number, tokens: number, calls: number][] = [
  [1, 40, 50],
  [16, 5, 96],
];
/** How many rounds there are of a kind, without a kill and with one. */
const ROUNDS: readonly [isKilled: boolean, rounds: number][] = [
  [false, 6],
  [true, 2],
];
/** How long a round may take, ms. */
const PATIENCE = 90_000;

export async function runRace(options: RaceOptions): Promise<RaceResult[]> {
  const { startRacer, valueOf, onResult, onFailure, signal } = options;
  const results: RaceResult[] = [];
  const racers: Racer[] = [];
  try {
    for (const kind of ["token bucket", "fixed window"] as const) {
      for (const [keys, tokens, calls] of TOKENS) {
        for (const [isKilled, rounds] of ROUNDS) {
          const result: RaceResult = { ...NONE, kind, keys, isKilled, problems: [] };
          const times: number[] = [];
          for (; result.rounds < rounds; result.rounds++) {
            signal.throwIfAborted();
            const missing = Array.from({ length: RACERS - racers.length }, startRacer);
            racers.push(...(await settled(missing)));
            const plan = planOf(kind, keys, tokens, calls);
            // Before the buckets are spent, which they are long before the calls end.
            const killAfter = isKilled ? 1 + Math.floor(Math.random() * (calls / 8)) : undefined;
            const round = runRound({ racers, plan, killAfter, valueOf });
            const ended = await within(PATIENCE, round).catch(failed);
            add(result, times, ended);
            if (ended.problem !== undefined) await onFailure?.();
            // After a failure, no racer answers the next plan for sure.
            const unfit = result.problems.length > 0 ? RACERS : Number(isKilled);
            await Promise.all(racers.splice(0, unfit).map((racer) => racer.kill()));
          }
          result.median = medianOf(times);
          results.push(result);
          onResult(result);
        }
      }
    }
  } finally {
    await Promise.all(racers.map((racer) => racer.kill()));
  }
  return results;
}

const NONE = { rounds: 0, granted: 0, tokens: 0, lost: 0, median: 0 };

/** Kills those that have started if one cannot start. */
async function settled(starting: Promise<Racer>[]): Promise<Racer[]> {
  const all = await Promise.allSettled(starting);
  const started = all.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const failure = all.find((each) => each.status === "rejected");
  if (failure === undefined) return started;
  await Promise.all(started.map((racer) => racer.kill()));
  throw failure.reason;
}

function planOf(
  kind: RateLimitConfig["kind"],
  count: number,
  rate: number,
  calls: number,
): RoundPlan {
  const round = randomUUID();
  const keys = Array.from({ length: count }, (_, i) => `${round} ${i}`);
  // A day, so that nothing refills in a round. The window began hours ago, and ends in hours.
  const config: RateLimitConfig =
    kind === "token bucket"
      ? { kind, rate, period: DAY }
      : { kind, rate, period: DAY, start: Date.now() - DAY / 2 };
  return { config, keys, calls };
}

function failed(error: unknown): RoundResult {
  return { granted: 0, tokens: 0, lost: 0, times: [], problem: messageOf(error) };
}

function add(result: RaceResult, times: number[], round: RoundResult): void {
  result.granted += round.granted;
  result.tokens += round.tokens;
  result.lost += round.lost;
  times.push(...round.times);
  if (round.problem !== undefined) result.problems.push(round.problem);
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}
