/**
 * The config of a limit, as the arithmetic takes it, and as a server shows it to its clients. Users
 * write a `LimitConfig`.
 */
import { DAY } from "./durations.js";
import type {
  AnyFixedWindow,
  CalendarWindowConfig,
  FixedWindowConfig,
  TokenBucketConfig,
} from "./limit-config.js";

/** Windows that are not of equal length: the windows of a time zone, or of a list. */
export interface Windows {
  /** The start of the window at `now`. */
  at(now: number): number;
  /** How many windows have started since the one of `ts`. At least 0. */
  since(ts: number, now: number): number;
  /** The start of the window that comes `count` windows after the one of `ts`. */
  after(ts: number, count: number): number;
  /**
   * The most windows that can have started in a row from the one of `from` to the one of `to`.
   * @default as many as have started since the one of `from`
   */
  most?(from: number, to: number): number;
}

/** None of the options that only fixed windows have. */
type NoWindows = {
  [
    TOption in Exclude<
      keyof AnyFixedWindow | "windows" | "starts" | "slots",
      keyof TokenBucketConfig
    >
  ]?: undefined;
};

interface TokenBucket extends TokenBucketConfig, NoWindows {}

interface WindowOfZone extends CalendarWindowConfig {
  /** The windows of a time zone, which only a server calculates. */
  windows: Windows;
  starts?: undefined;
}

type OtherWindow = FixedWindowConfig & {
  windows?: undefined;
  /** The windows of a limit that was shown, see {@link ShownWindow}. */
  starts?: readonly number[] | undefined;
};

/** The config of a fixed window, as the arithmetic takes it. */
export type WindowBucket = WindowOfZone | OtherWindow;

interface CreditsBucket extends Omit<TokenBucketConfig, "kind">, NoWindows {
  kind: "credits";
  /** 0: no tokens come by themselves. */
  rate: number;
  /** Has no meaning, because no tokens come. */
  period: number;
  capacity: number;
}

/** A config, as the arithmetic takes it. */
export type Bucket = TokenBucket | CreditsBucket | WindowBucket;

/** A fixed window, as it is shown. */
export type ShownWindow = FixedWindowConfig & {
  /**
   * The instants at which windows start, epoch ms, ascending, for a page that cannot calculate the
   * windows itself. Each instant brings `rate` tokens. An instant that is in the list twice brings
   * twice as many. After the last instant, no window starts. `starts` replaces `start` and `period`.
   */
  starts?: readonly number[] | undefined;
  /**
   * The number of slots of a limit of `kind: "concurrency"`. Each of `starts` is then the instant at
   * which a slot is free.
   */
  slots?: number | undefined;
  windows?: undefined;
};

/**
 * The config of a limit as a server shows it, plain JSON: in snapshots, in denials, and from `configOf`.
 * `calculateRateLimit` takes it, so that a page calculates as the server does.
 */
export type ShownConfig = TokenBucket | CreditsBucket | ShownWindow;

/** A config whose periods are of equal length: no days, weeks or months of the calendar. */
export type PeriodicConfig = (TokenBucket | OtherWindow) & { period: number };

/** The most shards of a limit: a bound, because `getValue` and `reset` read all shards. */
export const MAX_SHARDS = 1000;

/**
 * The longest wait that can be represented exactly: 2^52 ms, or 142,000 years. Added to any date,
 * such a wait stays within the integers that a double holds. A slower limit is a mistake.
 */
export const MAX_WAIT = 2 ** 52;

/**
 * The longest wait in an answer, ms: 8e15, or 253,000 years. This number means never: no wait ends the
 * denial, as where credits are used up. 8e15 is longer than any wait of a bucket that was only used
 * with one config. The present time and 8e15 together are still a date for JavaScript. On a page, the
 * answer is not JSON, so there `retryAt` is `Infinity` instead.
 */
export const MAX_RETRY_AFTER = 8e15;

/** Whether a wait never ends; see {@link MAX_RETRY_AFTER}. */
export function isNever(retryAfter: number): boolean {
  return retryAfter >= MAX_RETRY_AFTER;
}

/** How long a denial closes a bucket at least, ms; see `blockFor` of a limit. */
export function shortestBlock({ blockFor }: Pick<Bucket, "blockFor">): number | undefined {
  return typeof blockFor === "object" ? blockFor[0] : blockFor;
}

/** The length of the longest period, ms; 31 days for any period of a calendar, so pages need no table. */
export function longestPeriod({ period }: Bucket): number {
  return typeof period === "string" ? 31 * DAY : period;
}

/** The most tokens that a bucket of this config holds. */
export function capacityOf(config: Bucket): number {
  return config.capacity ?? config.rate;
}

/**
 * The use of a bucket that has nothing left: the capacity, and 0 for credits, because credits are a
 * balance. All use above this number is owed.
 */
export function emptyAt(config: Bucket): number {
  return config.rate && capacityOf(config);
}

/** The least that can be used: 0; minus the capacity for credits, where a balance of 5 is a use of -5. */
export function leastUsed(config: Bucket): number {
  return config.rate === 0 ? -capacityOf(config) : 0;
}

/**
 * The most that may be used after a call. No more than a double holds.
 *
 * @param floor the least that the call has to leave; see {@link floorOf}. @default without `reserve`
 */
export function mostUsed(config: Bucket, floor: number = -toleranceOf(config)): number {
  return Math.min(emptyAt(config) - floor, Number.MAX_VALUE);
}

/**
 * The most tokens that may be owed: `maxReserved`. Without that option, as many as can be repaid within
 * {@link MAX_WAIT} with enough time left to fill the bucket.
 */
export function reservableOf(config: Bucket): number {
  if (config.maxReserved !== undefined) return config.maxReserved;
  const periods =
    Math.floor(MAX_WAIT / longestPeriod(config)) - Math.ceil(capacityOf(config) / config.rate);
  // With a huge rate, the product would be more than a double holds.
  return Math.min(Math.max(0, periods) * config.rate, Number.MAX_VALUE);
}

/**
 * The tokens that a call may lack, because sums of doubles are not exact: an empty bucket of 10 tokens per
 * 100 ms that gave 0 tokens at 1 ms and 1 at 13 ms holds 8.999999999999998 at 100 ms. The tolerance is at
 * most the tokens that come within a thousandth of a ms, so no call passes a ms too early. Nothing is
 * added to the bucket, so the errors do not add up.
 */
export function toleranceOf(config: Bucket): number {
  return 1e-9 * Math.min(1, capacityOf(config), (1e6 * config.rate) / longestPeriod(config));
}

/**
 * The least that a call may leave in a row: 0, or with `reserve`, minus the tokens that may be owed. In
 * both cases, {@link toleranceOf} is subtracted.
 */
export function floorOf(config: Bucket, reserve: boolean): number {
  return (reserve ? -reservableOf(config) : 0) - toleranceOf(config);
}

/** One shard's part of the limit: the config of a limit without shards. */
export function shardConfig(config: Bucket): Bucket {
  if (config.shards === undefined || config.shards === 1) return config;
  const { shards, ...whole } = config;
  const part = { ...whole, rate: whole.rate / shards, capacity: capacityOf(config) / shards };
  return whole.maxReserved === undefined
    ? part
    : { ...part, maxReserved: whole.maxReserved / shards };
}
