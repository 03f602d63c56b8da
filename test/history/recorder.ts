/**
 * Random operations on a few buckets, each recorded with its start, its end and its answer. Buckets
 * are small and come in pairs that `limitAll` ties, so that values move up and down, denials are
 * frequent, and what is tied stays small.
 */
import {
  createRateLimiter,
  DAY,
  type RateLimiter,
  type RateLimitStore,
} from "../../server/index.js";
import type { Item, ItemAnswer, Operation } from "./operation.js";

export const CAPACITY = 5;
const PAIRS = [
  ["a", "b"],
  ["c", "d"],
] as const;

type Recorded = RateLimiter<{ bucket: { kind: "token bucket"; rate: number; period: number } }>;

export interface RecorderOptions {
  process: string;
  seed: number;
  /** How many operations are under way at once. */
  callers: number;
  /** Never runs backwards, and is the same for all processes. */
  clock(): number;
  /** Told of each operation before it begins, with a number of its own. */
  begin?(id: number, operation: Operation): void;
  /** Told how it ended. */
  write(operation: Operation, id: number): void;
  /** Asked before each operation. */
  goesOn(): boolean | Promise<boolean>;
  /** What a caller does before it tries again after a failure. */
  afterFailure?(): Promise<void>;
}

/** A limiter whose time stands still: its buckets only change by what is done to them. */
export function frozenLimiter(store: RateLimitStore, timeout = 30_000): Recorded {
  const bucket = { kind: "token bucket", rate: CAPACITY, period: DAY } as const;
  const frozen = Date.UTC(2030, 0, 1);
  return createRateLimiter({ store, timeout, limits: { bucket }, clock: () => frozen });
}

/** Runs operations until `goesOn` says no, and resolves when the last is answered. */
export async function record(limiter: Recorded, options: RecorderOptions): Promise<void> {
  const { process, clock, write } = options;
  const random = mulberry32(options.seed);
  const below = (bound: number) => Math.floor(random() * bound);
  // Staying with a pair for a while is what makes a store believe that it knows the rows.
  let pair: readonly string[] = PAIRS[0];
  let begun = 0;

  function pick(): Pick<Operation, "action" | "items"> {
    if (random() < 0.05) pair = PAIRS[below(PAIRS.length)]!;
    const item = (most: number): Item => ({ key: pair[below(2)]!, count: 1 + below(most) });
    const dice = random();
    if (dice < 0.45) return { action: "limit", items: [item(3)] };
    if (dice < 0.7) return { action: "refund", items: [item(3)] };
    if (dice < 0.75) return { action: "reset", items: [{ ...item(1), count: 0 }] };
    if (dice < 0.85) return { action: "getValue", items: [{ ...item(1), count: 0 }] };
    return { action: "limitAll", items: pair.map((key) => ({ key, count: 1 + below(2) })) };
  }

  async function caller(): Promise<void> {
    while (await options.goesOn()) {
      const picked = pick();
      const start = clock();
      const id = begun++;
      options.begin?.(id, { process, ...picked, start, end: Infinity, answer: undefined });
      const answer = await perform(limiter, picked).catch((error: unknown) => {
        if ((error as { kind?: unknown }).kind !== "StoreFailure") throw error;
        return undefined;
      });
      const end = answer === undefined ? Infinity : clock();
      write({ process, ...picked, start, end, answer }, id);
      if (answer === undefined) await options.afterFailure?.();
    }
  }
  await Promise.all(Array.from({ length: options.callers }, caller));
}

async function perform(
  limiter: Recorded,
  { action, items }: Pick<Operation, "action" | "items">,
): Promise<ItemAnswer[]> {
  const [only] = items;
  const { key, count } = only!;
  switch (action) {
    case "limit": {
      const { ok, value } = await limiter.limit("bucket", { key, count });
      return [{ ok, value }];
    }
    case "limitAll": {
      const all = items.map((item) => ({ name: "bucket" as const, ...item }));
      const { results } = await limiter.limitAll(all);
      return results.map(({ ok, value }) => ({ ok, value }));
    }
    case "reset":
      await limiter.reset("bucket", { key });
      return [];
    case "refund":
      return [{ ok: true, value: (await limiter.refund("bucket", { key, count })).value }];
    case "getValue":
      return [{ ok: true, value: (await limiter.getValue("bucket", { key })).value }];
  }
}

/** Tommy Ettinger's mulberry32: random enough, and the same for the same seed. */
function mulberry32(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
