/** The context of a workload's caller. */
import type {
  AutoPruneOptions,
  LimitConfigs,
  RateLimitConfig,
  RateLimiter,
} from "../../../server/index.js";
import type { Borrowed } from "../databases.js";
import type { Process } from "../process.js";
import type { Random } from "../random.js";
import type { Shipped } from "../shipped.js";
import type { Tally } from "../faults.js";
import type { Timeline } from "../timeline.js";
import type { Operation } from "../../histories/operation.js";

/** Rates are per day, far longer than a simulation takes, so nothing refills on the frozen clock. */
export const CAPACITY = 5;
export const MAX_RESERVED = 4;
export const SHARDS = 3;
/** More tokens than a crowd takes. */
export const CROWD = 2 ** 40;

const DAY = 86_400_000;
export const FROZEN = {
  bucket: { kind: "token bucket", rate: CAPACITY, period: DAY },
  own: { kind: "token bucket", rate: 20, period: DAY, maxReserved: MAX_RESERVED },
  crowd: { kind: "token bucket", rate: CROWD, period: 10_000 * DAY },
  sharded: { kind: "token bucket", rate: 12, period: DAY, shards: SHARDS },
} satisfies Record<string, RateLimitConfig>;

export const LIVE = {
  quick: { kind: "token bucket", rate: 10, period: 10_000, capacity: 3 },
  hourly: { kind: "fixed window", rate: 4, period: 20_000, start: 0 },
  closing: { kind: "token bucket", rate: 10, period: 10_000, capacity: 2, blockFor: 5000 },
  split: { kind: "token bucket", rate: 12, period: 10_000, capacity: 9, shards: SHARDS },
} satisfies Record<string, RateLimitConfig>;

export type LiveName = keyof typeof LIVE;

/** The limits that pages show. One of them has tokens that processes hold. */
export const SHOWN = {
  ...LIVE,
  drafts: { kind: "token bucket", rate: 3, period: 60_000, holds: true },
} satisfies Record<string, RateLimitConfig>;

export type ShownName = keyof typeof SHOWN;

/** One process with its limiters on the same store. */
export interface Member {
  id: string;
  process: Process;
  shipped: Shipped;
  /** A limiter whose clock stands still. */
  frozen: RateLimiter<typeof FROZEN>;
  /** A limiter on the clock of the database. */
  live: RateLimiter<typeof SHOWN>;
  /** Another limiter on the same store. Without a `clock`, it uses the clock of the database. */
  limiter(
    limits: LimitConfigs,
    clock?: () => number,
    autoPrune?: AutoPruneOptions,
    flushUsage?: number,
  ): RateLimiter;
  /** Lends a connection to the application. */
  borrow(): Promise<Borrowed>;
  /** Waits, by a timer of the process. */
  sleep(ms: number): Promise<void>;
}

export interface Caller {
  member: Member;
  timeline: Timeline;
  random: Random;
  /** Whether no fault happens in this simulation. */
  isCalm: boolean;
  /** Whether commits were lost. The tokens of lost commits may be granted again. */
  hasLost(): boolean;
  /** How far a process may be from the clock of the database, ms. */
  clockError: number;
  /** False when the caller must stop. */
  isOn(): boolean;
  report(problem: string): void;
  tally: Tally<string>;
  /** Begins when a call on the bucket has failed, and ends with the next call. */
  quiet(key: string): { end(): void };
  /** A call failed because of the store. */
  failed(error: unknown, what: string): void;
  history: Operation[];
  /** Runs a call, and checks that it ends in time. */
  timed<TResult>(what: string, most: number, call: () => Promise<TResult>): Promise<TResult>;
}

/** Whether the store has failed. Any other error is a problem. */
export function isStoreFailure(error: unknown): boolean {
  return (error as { kind?: unknown } | null)?.kind === "StoreFailure";
}

/** Whether the store has answered a call. Other errors are thrown. */
export async function answers(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
    return false;
  }
}

export type Workload = (caller: Caller) => Promise<void>;
