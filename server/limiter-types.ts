/** The limiter as its users see it: the names of the limits flow from the config into each call. */
import type { RateLimitState } from "../core/calculate.js";
import type { RateLimitConfig } from "../core/config.js";
import type { RateLimitResult } from "../core/decide.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { RateLimitStore, TransactionOptions } from "./store/store.js";

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

export interface AcquireOptions extends Omit<LimitOptions, "reserve" | "throws"> {
  /** The longest wait, ms; a turn that would come later is a denial at once. @default unlimited */
  maxWait?: number | undefined;
  /** Calls the waiting off: what was reserved is given back. */
  signal?: AbortSignal | undefined;
}

export interface RefundOptions extends KeyOptions {
  /** Tokens given back: finite and at least 0. @default 1 */
  count?: number | undefined;
}

/** One of several limits; see `LimitOptions`. */
export interface LimitAllItem extends Omit<LimitOptions, "throws"> {
  name: string;
}

export interface LimitAllOptions {
  /** Throw a `RateLimitError`, about the limit with the longest wait, when denied. @default false */
  throws?: boolean | undefined;
}

/**
 * - `ok: true`: every limit was charged; `results` has one result each, and `retryAfter` is there
 *   when some were reserved.
 * - `ok: false`: nothing was consumed. All of them pass after `retryAfter` whole ms; `name` is the
 *   limit with the longest wait, and `results` what each would have got in its turn.
 */
export type LimitAllResult =
  | { ok: true; retryAfter?: number; results: RateLimitResult[] }
  | { ok: false; retryAfter: number; name: string; results: RateLimitResult[] };

export interface PruneOptions {
  /**
   * Further configs that rows of a limit may have been charged with, by name: the per-call ones. A
   * row goes only when it is full under all of them, and rows of unknown names only when named here.
   */
  alsoConfigs?: Readonly<Record<string, readonly RateLimitConfig[]>>;
}

/** What `onDecision` is told, after the fact. */
export interface DecisionEvent {
  action: "limit" | "check";
  name: string;
  key: string | undefined;
  count: number;
  result: RateLimitResult;
}

/** Options are optional for the limiter's own limits; other names have to bring a `config`. */
export type OptionsFor<TLimits, TName, TOptions> = TName extends keyof TLimits
  ? [options?: TOptions]
  : [options: TOptions & { config: RateLimitConfig }];

export interface RateLimiterOptions<TLimits extends LimitConfigs, TTransaction = unknown> {
  /** Where the rows are: `prismaStore(prisma)` or `memoryStore()`. */
  store: RateLimitStore<TTransaction>;
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
  /** Waits for `acquire`; inject one that goes with `clock` in tests. @default real timers */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * Tells other processes of changes at once, and hears of theirs, for those who watch.
   * @default nothing: they are found by looking now and then
   */
  channel?: ChangeChannel;
  /** Told of every decision, for metrics. What it throws, or rejects with, is ignored. */
  onDecision?: (event: DecisionEvent) => void | Promise<void>;
}

/** Told after the tokens of a limit have changed. What it throws, or rejects with, is ignored. */
export type ChangeListener = (name: string, key: string | undefined) => void;

/** Carries news of changes between processes; see `postgresChannel`. */
export interface ChangeChannel {
  /** This process has changed a limit. Never throws, and need not deliver. */
  publish(name: string, key: string | undefined): void | Promise<void>;
  /** Calls `listener` after changes by other processes; returns how to stop that. */
  subscribe(listener: ChangeListener): () => void;
}

/**
 * What can be done with limits, on their own or inside a transaction. Every method rejects with a
 * `RateLimitInputError` for an unknown name, a key or a count that cannot be served, and with a
 * `RateLimitStoreError` when the store fails. Neither consumes, except that a failure while writing
 * may have: see the README on crashes.
 */
export interface RateLimitOperations<TLimits extends LimitConfigs> {
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

  /** Consumes from every limit, or from none. Decided in one step, whatever the order. */
  limitAll<const TNames extends readonly LimitName<TLimits>[]>(
    items: LimitAllItemsOf<TLimits, TNames>,
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;

  /** Fills the bucket, reservations and all forgotten. */
  reset<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, KeyOptions>
  ): Promise<void>;

  /** Gives tokens back, up to the capacity. Resolves with the tokens then held. */
  refund<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, RefundOptions>
  ): Promise<{ value: number }>;

  /**
   * The tokens held now, summed over all shards: `value` at `ts`, the present instant or the start
   * of the present window. `config` has `start` filled in, so the three belong together.
   */
  getValue<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, KeyOptions>
  ): Promise<RateLimitState & { config: RateLimitConfig }>;
}

/** The items of `limitAll`: names that the limiter does not know have to bring a `config`. */
export type LimitAllItemsOf<TLimits, TNames extends readonly string[]> = {
  readonly [TIndex in keyof TNames]: Omit<LimitAllItem, "name"> & {
    name: TNames[TIndex];
  } & (TNames[TIndex] extends keyof TLimits ? unknown : { config: RateLimitConfig });
};

export interface RateLimiter<
  TLimits extends LimitConfigs = LimitConfigs,
  TTransaction = unknown,
> extends RateLimitOperations<TLimits> {
  readonly limits: TLimits;
  readonly clock: () => number;

  /**
   * Reserves, waits until the work may be done, and resolves. Rejects with a `RateLimitError` when
   * no turn can be had within `maxWait`, and with the signal's reason when that is aborted.
   */
  acquire<TName extends LimitName<TLimits>>(
    name: TName,
    ...options: OptionsFor<TLimits, TName, AcquireOptions>
  ): Promise<RateLimitResult>;

  /**
   * Runs `run` in a Serializable transaction of the database: what it takes from limits and what it
   * writes through `tx` is committed together or not at all. Conflicts are retried, with all of
   * `run` running again; anything else that it throws rolls back and is rethrown.
   */
  transaction<TResult>(
    run: (scope: RateLimitOperations<TLimits> & { tx: TTransaction }) => Promise<TResult>,
    options?: TransactionOptions,
  ): Promise<TResult>;

  /**
   * The operations inside a transaction that the caller has opened and owns. They hold the rows they
   * touch until it ends. A conflict aborts it, and only its owner can try again.
   */
  using(tx: TTransaction): RateLimitOperations<TLimits>;

  /** Deletes rows that are full again. Resolves with how many. Run it now and then. */
  prune(options?: PruneOptions): Promise<number>;

  /**
   * The states of several limits in one round trip, for clients to calculate with. `value` and `ts`
   * are the row's own, so that what a client predicts is exactly what the server decides.
   */
  snapshots(
    items: readonly { name: keyof TLimits & string; key?: string | undefined }[],
  ): Promise<RateLimitSnapshot<keyof TLimits & string>[]>;

  /**
   * Calls `listener` after each change that this process makes, and after those of others that the
   * `channel` tells of; returns how to stop that.
   */
  onChange(listener: ChangeListener): () => void;
}

/** A limiter whose names are only known at run time, for the package's own generic code. */
export interface UntypedRateLimiter
  extends Pick<RateLimiter, "limits" | "clock" | "snapshots" | "onChange">, UntypedOperations {
  check(name: string, options?: LimitOptions): Promise<RateLimitResult>;
  reset(name: string, options?: KeyOptions): Promise<void>;
  refund(name: string, options?: RefundOptions): Promise<{ value: number }>;
  transaction<TResult>(
    run: (scope: UntypedOperations & { tx: unknown }) => Promise<TResult>,
  ): Promise<TResult>;
}

interface UntypedOperations {
  limit(name: string, options?: LimitOptions): Promise<RateLimitResult>;
  limitAll(items: readonly LimitAllItem[], options?: LimitAllOptions): Promise<LimitAllResult>;
}
