/**
 * Runs random operations on a few buckets, and records each with its start, its end and its answer.
 * The buckets are small, so that denials are frequent. `limitAll` only uses the two buckets of one
 * pair, so that the independent parts of the history stay small.
 */
import {
  createRateLimiter,
  DAY,
  HOUR,
  type RateLimitConfig,
  type RateLimiter,
  type RateLimitStore,
} from "../../server/index.js";
import type { Item, ItemAnswer, Operation } from "./operation.js";

export const CAPACITY = 5;
const PAIRS = [
  ["a", "b"],
  ["c", "d"],
] as const;

type Recorded = RateLimiter<{ bucket: RateLimitConfig }>;

export interface RecorderOptions {
  process: string;
  seed: number;
  /** The number of operations in flight at once. */
  callers: number;
  /** The time. This clock never steps back, and all processes share it. */
  clock(): number;
  /** Called before each operation, with an id that is unique in this process. */
  begin?(id: number, operation: Operation): void;
  /** Called after each operation. */
  write(operation: Operation, id: number): void;
  /** Called before each operation. If the result is `false`, the caller stops. */
  shouldContinue(): boolean | Promise<boolean>;
  /** Delays a caller after so many failures in a row. */
  afterFailure?(failures: number): Promise<void>;
}

/** A limiter on a frozen clock, so that its buckets never refill. */
export function frozenLimiter(store: RateLimitStore, timeout = 30_000): Recorded {
  const bucket = { kind: "token bucket", rate: CAPACITY, period: DAY } as const;
  const frozen = Date.UTC(2030, 0, 1);
  return createRateLimiter({ store, timeout, limits: { bucket }, clock: () => frozen });
}

/** A limiter on the store's own clock. Its buckets refill an hour after `start`, epoch ms. */
export function hourlyLimiter(store: RateLimitStore, start: number): Recorded {
  const bucket = { kind: "fixed window", rate: CAPACITY, period: HOUR, start } as const;
  return createRateLimiter({ store, timeout: 30_000, limits: { bucket } }) as Recorded;
}

/** Runs operations until `shouldContinue` returns false. Resolves after the last answer. */
export async function record(limiter: Recorded, options: RecorderOptions): Promise<void> {
  const { process, clock, write } = options;
  const random = mulberry32(options.seed);
  const below = (bound: number) => Math.floor(random() * bound);
  // Use one pair for a while, so that a store that caches rows uses its cache.
  let pair: readonly string[] = PAIRS[0];
  let nextId = 0;

  function pick(): Pick<Operation, "action" | "items"> {
    if (random() < 0.05) pair = PAIRS[below(PAIRS.length)]!;
    const item = (max: number): Item => ({ key: pair[below(2)]!, count: 1 + below(max) });
    const dice = random();
    if (dice < 0.45) return { action: "limit", items: [item(3)] };
    if (dice < 0.7) return { action: "refund", items: [item(3)] };
    if (dice < 0.75) return { action: "reset", items: [{ ...item(1), count: 0 }] };
    if (dice < 0.85) return { action: "getValue", items: [{ ...item(1), count: 0 }] };
    return { action: "limitAll", items: pair.map((key) => ({ key, count: 1 + below(2) })) };
  }

  async function caller(): Promise<void> {
    let failures = 0;
    while (await options.shouldContinue()) {
      const operation = pick();
      const start = clock();
      const id = nextId++;
      options.begin?.(id, { process, ...operation, start, end: Infinity, answer: undefined });
      const answer = await perform(limiter, operation).catch((error: unknown) => {
        if ((error as { kind?: unknown }).kind !== "StoreFailure") throw error;
        return undefined;
      });
      const end = answer === undefined ? Infinity : clock();
      write({ process, ...operation, start, end, answer }, id);
      failures = answer === undefined ? failures + 1 : 0;
      if (failures > 0) await options.afterFailure?.(failures);
    }
  }
  await Promise.all(Array.from({ length: options.callers }, caller));
}

async function perform(
  limiter: Recorded,
  { action, items }: Pick<Operation, "action" | "items">,
): Promise<ItemAnswer[]> {
  const [first] = items;
  const { key, count } = first!;
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

/** Tommy Ettinger's mulberry32, a small random generator with a seed. */
function mulberry32(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
