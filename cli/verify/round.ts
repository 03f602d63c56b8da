/** One round of the race: all racers take from the same buckets at the same time. */
import type { RateLimitConfig } from "../../core/limit-config.js";

/** What each racer does in a round. */
export interface RoundPlan {
  config: RateLimitConfig;
  /** Keys that no other round has. */
  keys: readonly string[];
  /** The calls of each racer, spread evenly over the keys. */
  calls: number;
}

/** The answer to one call of a racer. */
export interface Answer {
  key: string;
  /** Whether a token was granted; `undefined` if the call has failed. */
  ok?: boolean;
  /** Why the call has failed. */
  error?: string;
  /** How long the call took. */
  ms: number;
}

/** Calls that a racer has open at a time: the most that a killed one leaves without an answer. */
export const WIDTH = 8;

export interface Racer {
  /** Resolves at the end of the calls, or of the process. Rejects if the process ends by itself. */
  run(plan: RoundPlan, onAnswer: (answer: Answer) => void): Promise<void>;
  /** Ends the process by SIGKILL, whatever it does. Resolves when it has ended. */
  kill(): Promise<void>;
}

export interface RoundResult {
  granted: number;
  /** How many tokens the buckets had. */
  tokens: number;
  /** Tokens that the killed racer has taken without getting the answer. */
  lost: number;
  times: number[];
  /** Why the round has not held; `undefined` if it has. */
  problem?: string | undefined;
}

interface RoundOptions {
  racers: readonly Racer[];
  plan: RoundPlan;
  /** After how many of its answers the first racer is killed. @default it is not */
  killAfter?: number | undefined;
  /** How many tokens a bucket has left. */
  valueOf: (key: string, config: RateLimitConfig) => Promise<number>;
}

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { racers, plan, killAfter, valueOf } = options;
  const { keys, config } = plan;
  const granted = new Map(keys.map((key) => [key, 0]));
  const result: RoundResult = {
    granted: 0,
    tokens: keys.length * config.rate,
    lost: 0,
    times: [],
  };
  let ofVictim = 0;
  const runs = racers.map((racer, index) =>
    racer.run(plan, ({ key, ok, error, ms }) => {
      result.times.push(ms);
      if (error !== undefined) result.problem ??= `a call has failed: ${error}`;
      if (ok === true) granted.set(key, granted.get(key)! + 1);
      if (index > 0 || killAfter === undefined) return;
      if (++ofVictim === killAfter) void racer.kill();
    }),
  );
  await Promise.all(runs);
  for (const key of keys) {
    const count = granted.get(key)!;
    result.granted += count;
    const problem = problemOf(config.rate, count, await valueOf(key, config));
    // Tokens that were granted twice say more than a call that has failed.
    result.problem = count > config.rate ? problem : (result.problem ?? problem);
  }
  result.lost = result.tokens - result.granted;
  if (result.lost > (killAfter === undefined ? 0 : WIDTH)) {
    result.problem ??= `only ${result.granted} of ${result.tokens} tokens were granted`;
  }
  return result;
}

/** Every racer but the killed one asks for more than there is, so each bucket is spent at the end. */
function problemOf(tokens: number, granted: number, value: number): string | undefined {
  if (granted > tokens) return `${granted} of ${tokens} tokens of a key were granted`;
  // In a round, a bucket refills by far less than one token.
  if (value >= 0 && value < 1) return undefined;
  return `all ${tokens} tokens were asked for, and the row says that ${value.toFixed(2)} are left`;
}
