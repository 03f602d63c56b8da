/** The limiter as its users see it: the names of the limits flow from the config into each call. */
import type { RateLimitState } from "../core/calculate.js";
import type { RateLimitConfig } from "../core/config.js";
import type { RateLimitResult } from "../core/decide.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { RateLimitStore } from "./store/store.js";

export type LimitConfigs = Record<string, RateLimitConfig>;

/** Autocompletes the names of the limits, and takes other strings where a config comes along. */
export type LimitName<TLimits> = (keyof TLimits & string) | (string & {});

export interface KeyOptions {
  /**
   * For whom: 1 to 191 UTF-16 code units, no NUL, no lone surrogate. Keys that differ in any way
   * are different buckets. An empty string is refused: it is what a missing user id looks like.
   * @default the one bucket that all callers share
   */
  key?: string | undefined;
  /** The limit's config for this call only, such as a paying user's; it goes with the same row. */
  config?: RateLimitConfig | undefined;
}

export interface LimitOptions extends KeyOptions {
  /** Tokens wanted: finite and at least 0, fractions included. @default 1 */
  count?: number | undefined;
  /**
   * Take tokens that are still to come, up to `maxReserved`: the result is then `ok` with a
   * `retryAfter`, the ms after which to do the work.
   * @default false
   */
  reserve?: boolean | undefined;
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: boolean | undefined;
}

/** Options are optional for the limiter's own limits; other names have to bring a `config`. */
export type OptionsFor<TLimits, TName, TOptions> = TName extends keyof TLimits
  ? [options?: TOptions]
  : [options: TOptions & { config: RateLimitConfig }];

export interface RateLimiterOptions<TLimits extends LimitConfigs> {
  /** Where the rows are: `prismaStore(prisma)` or `memoryStore()`. */
  store: RateLimitStore;
  /** The limits by name. Checked at construction. */
  limits: TLimits;
  /** The time, epoch ms. @default Date.now */
  clock?: () => number;
  /** Between 0 and 1; picks shards. @default Math.random */
  random?: () => number;
  /**
   * How long a call may wait for the store, ms, above 0; `Infinity` for ever. Past it the call
   * fails with a `RateLimitStoreError`: neither a denial nor a pass.
   * @default 2000
   */
  timeout?: number;
}

/** Told after this process has changed the tokens of a limit. */
export type ChangeListener = (name: string, key: string | undefined) => void;

/**
 * Every method rejects with a `RateLimitInputError` for an unknown name, a key or a count that
 * cannot be served, and with a `RateLimitStoreError` when the store fails. Neither consumes, except
 * that a failure while writing may have: see the README on crashes.
 */
export interface RateLimiter<TLimits extends LimitConfigs = LimitConfigs> {
  readonly limits: TLimits;
  readonly clock: () => number;

  /** Consumes tokens if there are enough. A denied call changes nothing. */
  limit<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, LimitOptions>
  ): Promise<RateLimitResult>;

  /** What `limit` would answer, without consuming anything. */
  check<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, LimitOptions>
  ): Promise<RateLimitResult>;

  /** Fills the bucket, reservations and all forgotten. */
  reset<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, KeyOptions>
  ): Promise<void>;

  /**
   * The tokens held now, summed over all shards: `value` at `ts`, the present instant or the start
   * of the present window. `config` has `start` filled in, so the three belong together.
   */
  getValue<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, KeyOptions>
  ): Promise<RateLimitState & { config: RateLimitConfig }>;

  /**
   * The states of several limits in one round trip, for clients to calculate with. `value` and `ts`
   * are the row's own, so that what a client predicts is exactly what the server decides.
   */
  snapshots(
    items: readonly { name: keyof TLimits & string; key?: string | undefined }[],
  ): Promise<RateLimitSnapshot<keyof TLimits & string>[]>;

  /** Calls `listener` after each change that this process makes; returns how to stop that. */
  onChange(listener: ChangeListener): () => void;
}

/** A limiter whose names are only known at run time, for the package's own generic code. */
export interface UntypedRateLimiter extends Pick<
  RateLimiter,
  "limits" | "clock" | "snapshots" | "onChange"
> {
  limit(name: string, options?: LimitOptions): Promise<RateLimitResult>;
  check(name: string, options?: LimitOptions): Promise<RateLimitResult>;
  reset(name: string, options?: KeyOptions): Promise<void>;
}
