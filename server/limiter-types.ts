/** The limiter as its users see it: the names of the limits flow from the config into each call. */
import type { RateLimitConfig } from "../core/config.js";
import type { RateLimitResult } from "../core/decide.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { RateLimitLogger } from "./logger.js";
import type { BatchEvent } from "./store/batch-event.js";
import type { RateLimitStore, TransactionOptions } from "./store/store.js";
import type {
  AcquireOptions,
  ChargeOptions,
  ChargeResult,
  KeyOptions,
  KnownItemOf,
  LimitAllItem,
  LimitAllItemOf,
  LimitAllOptions,
  LimitAllResult,
  LimitConfigs,
  LimitName,
  LimitOptions,
  LimitValue,
  RefundOptions,
  WithConfig,
} from "./call-options.js";

/** The options of `prune`. */
export interface PruneOptions {
  /**
   * Per-call configs, by the name of their limit. A row is deleted only when it is full under all
   * configs of its limit. Rows of a name that the limiter does not know are deleted only when the
   * name is given here.
   */
  alsoConfigs?: Readonly<Record<string, readonly RateLimitConfig[]>>;
}

/** The options of `autoPrune`. */
export interface AutoPruneOptions extends PruneOptions {
  /** How often, ms: whole, at least 1. @default 5 minutes */
  every?: number | undefined;
  /** Ends it when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** The argument of `onDecision`. */
export interface DecisionEvent {
  /**
   * `limit`: tokens were wanted. `check`: only an answer. `charge`: tokens were taken for use that
   * has happened, by `charge` or by `settle`.
   */
  action: "limit" | "check" | "charge";
  /** The limit. */
  name: string;
  /** The key of the bucket; `undefined` for the bucket that all callers share. */
  key: string | undefined;
  /** Tokens wanted. */
  count: number;
  /** The answer that the caller got. */
  result: RateLimitResult;
}

/** The options of `createRateLimiter`. */
export interface RateLimiterOptions<TLimits extends LimitConfigs, TTransaction = unknown> {
  /** Where the rows are: `prismaStore(prisma)` or `memoryStore()`. */
  store: RateLimitStore<TTransaction>;
  /** The limits by name. Checked at construction. */
  limits: TLimits;
  /**
   * The time, epoch ms.
   * @default the clock of the store's database, or else `Date.now`
   */
  clock?: () => number;
  /**
   * Keeps keys, such as mail addresses, out of the table: rows have the key that this returns, which
   * must be a valid one. Use a keyed hash, such as `createHmac` of `node:crypto`: everyone can hash
   * all addresses that exist, and compare. It has to be quick, and to return the same each time:
   * results are kept for keys in use. It is not called for the shared bucket. `onDecision` and
   * `onChange` keep the caller's key. Another function, or another secret, gives every caller a new
   * bucket.
   * @default the keys themselves
   */
  hashKey?: ((key: string) => string) | undefined;
  /** Between 0 and 1; picks shards. @default Math.random */
  random?: () => number;
  /**
   * How long a call may wait for the store, ms, above 0; `Infinity` for no bound. After that time
   * the call fails with a `RateLimitStoreError`: neither a denial nor a pass.
   * @default 2000
   */
  timeout?: number;
  /** Waits for `acquire`; inject one that goes with `clock` in tests. @default real timers */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * Sends changes to other processes at once, and receives theirs, for `watch`.
   * @default none: `watch` finds the changes of other processes when it next reads the store
   */
  channel?: ChangeChannel;
  /**
   * Deletes rows that are full again, now and then: `true`, or how often and with which configs.
   * However many processes there are, only one of them does it per interval. Its timer does not
   * keep the process alive. Its errors reach the `logger`.
   * @default false
   */
  autoPrune?: boolean | AutoPruneOptions | undefined;
  /**
   * Receives what no caller is told: once per outage why the store fails. `false` for no messages.
   * @default console
   */
  logger?: RateLimitLogger | false | undefined;
  /** Called after every decision, for metrics. Its errors and rejections are ignored. */
  onDecision?: (event: DecisionEvent) => void | Promise<void>;
  /**
   * Called after each batch that the store has sent to its database, for metrics. Its errors and
   * rejections are ignored. The events are those of the store: limiters that share it get the same
   * ones. SQL stores have them. `memoryStore` has none, nor have stores without `onBatch`.
   * `transaction` and `using` send their statements one by one, and without events.
   */
  onBatch?: (event: BatchEvent) => void | Promise<void>;
}

/**
 * Called with the `changeDigest` of a limit after its tokens have changed. Its errors and
 * rejections are ignored.
 */
export type ChangeListener = (digest: string) => void;

/**
 * Carries notifications of changes between processes; see `postgresChannel`. It needs to carry
 * nothing but digests. A digest that is lost, repeated or made up does no harm: a limit is read
 * later, or once more.
 */
export interface ChangeChannel {
  /** This process has changed a limit. Never throws. Delivery is not guaranteed. */
  publish(digest: string): void | Promise<void>;
  /** Calls `listener` after changes by other processes. Returns a function that ends that. */
  subscribe(listener: ChangeListener): () => void;
}

/**
 * The operations on limits, on their own or inside a transaction. Every method rejects with a
 * `RateLimitInputError` for an unknown name and for a key or a count that is not valid, and with a
 * `RateLimitStoreError` when the store fails. Neither consumes tokens, with one exception: a write
 * may have taken effect although its answer was lost.
 *
 * Each method has two overloads: any name with a `config`, and the limiter's own names. The own
 * names come last, because the compiler reports the error of the last overload: it quotes a
 * misspelt name.
 */
export interface RateLimitOperations<TLimits extends LimitConfigs> {
  /**
   * Consumes tokens if there are enough. A denied call changes nothing, unless it closes the bucket
   * (`blockFor`).
   */
  limit(name: LimitName<TLimits>, options: WithConfig<LimitOptions>): Promise<RateLimitResult>;
  /**
   * Consumes tokens if there are enough. A denied call changes nothing, unless it closes the bucket
   * (`blockFor`).
   */
  limit(name: keyof TLimits & string, options?: LimitOptions): Promise<RateLimitResult>;

  /** The answer that `limit` would give. Consumes nothing. */
  check(name: LimitName<TLimits>, options: WithConfig<LimitOptions>): Promise<RateLimitResult>;
  /** The answer that `limit` would give. Consumes nothing. */
  check(name: keyof TLimits & string, options?: LimitOptions): Promise<RateLimitResult>;

  /** Consumes from every limit, or from none. Decided in one step, whatever the order. */
  limitAll(
    items: readonly LimitAllItemOf<TLimits>[],
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;
  limitAll(
    items: readonly KnownItemOf<TLimits>[],
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;

  /**
   * Records use that has happened: takes the tokens whatever is left, into debt, and whatever
   * `maxReserved` says. Later calls wait until the debt is repaid. Rejects with a
   * `RateLimitInputError` for a count that takes more than 71,000 years to refill.
   */
  charge(name: LimitName<TLimits>, options: WithConfig<ChargeOptions>): Promise<ChargeResult>;
  /** Records use that has happened: takes the tokens whatever is left, into debt. */
  charge(name: keyof TLimits & string, options?: ChargeOptions): Promise<ChargeResult>;

  /**
   * Corrects the tokens of a granted call to what it really used: gives the difference back, as
   * `refund` does with a result, or charges it, as `charge` does. A call that is never settled stays
   * as it was estimated. A second call corrects the first one. Calls at the same time take effect
   * one after the other. In `transaction`, a rollback also undoes what the result remembers; in a
   * transaction of your own (`using`), settle a result once, and only a result of that transaction.
   *
   * After a `RateLimitStoreError`, a second call charges the difference again, and gives nothing
   * back again, because the first one may have taken effect.
   *
   * @param result the result itself that `limit`, `acquire` or an item of `limitAll` got; a copy is
   * not enough.
   * @param actual tokens that were used: finite and at least 0.
   */
  settle(result: RateLimitResult, actual: number): Promise<void>;

  /** Fills the bucket and forgets its reservations. */
  reset(name: LimitName<TLimits>, options: WithConfig<KeyOptions>): Promise<void>;
  /** Fills the bucket and forgets its reservations. */
  reset(name: keyof TLimits & string, options?: KeyOptions): Promise<void>;

  /**
   * Gives tokens back, up to the capacity. Resolves with the tokens that the rows concerned then
   * hold. Pass the `result` of the call that took them: without it, calls that were given back late
   * could let more through than the limit allows.
   */
  refund(name: LimitName<TLimits>, options: WithConfig<RefundOptions>): Promise<{ value: number }>;
  /** Gives tokens back, up to the capacity. Pass the `result` of the call that took them. */
  refund(name: keyof TLimits & string, options?: RefundOptions): Promise<{ value: number }>;

  /**
   * The tokens held now, summed over all shards: `value` at `ts`, the present instant or the start
   * of the present window. `config` has `start` filled in, so the three belong together.
   */
  getValue(name: LimitName<TLimits>, options: WithConfig<KeyOptions>): Promise<LimitValue>;
  /** The tokens held now, summed over all shards. */
  getValue(name: keyof TLimits & string, options?: KeyOptions): Promise<LimitValue>;
}

/** The options of `list`. */
export interface ListOptions {
  /** The limit's config, if the limiter does not know the limit, or another one than it has. */
  config?: RateLimitConfig | undefined;
  /** The `next` of the page before. @default the first page */
  after?: string | undefined;
  /** Items per page: whole, 1 to 1,000. @default 100 */
  count?: number | undefined;
}

/** One page of `list`. */
export interface LimitPage {
  /** One item per key that has rows, in the order of the store. */
  items: LimitItem[];
  /**
   * The `after` of the next page; `undefined` on the last one. It is printable ASCII, and may be
   * sent to a browser that may see the items: it says which key was the last one.
   */
  next: string | undefined;
}

/** The bucket of one key, as `list` shows it: that of `getValue`, with its key. */
export interface LimitItem extends LimitValue {
  /** The key of the rows, hashed where there is a `hashKey`; `undefined` for the shared bucket. */
  key: string | undefined;
  /** The limiter's clock when the state was read, epoch ms. */
  now: number;
}

/** A limiter: operations on the limits that it names, and the upkeep of their rows. */
export interface RateLimiter<
  TLimits extends LimitConfigs = LimitConfigs,
  TTransaction = unknown,
> extends RateLimitOperations<TLimits> {
  /** The configs of the limits, by name. */
  readonly limits: Readonly<TLimits>;
  /** The time by which this limiter decides, epoch ms. */
  readonly clock: () => number;

  /**
   * Reserves tokens, waits until the work may be done, and resolves. Rejects with a
   * `RateLimitError` when the wait would be longer than `maxWait`, and with the signal's reason
   * when the signal is aborted.
   */
  acquire(name: LimitName<TLimits>, options: WithConfig<AcquireOptions>): Promise<RateLimitResult>;
  /** Reserves tokens, waits until the work may be done, and resolves. */
  acquire(name: keyof TLimits & string, options?: AcquireOptions): Promise<RateLimitResult>;

  /**
   * Runs `run` in a Serializable transaction of the database. The tokens that it takes and the data
   * that it writes through `tx` are committed together or not at all. After a conflict all of `run`
   * runs again. Any other error of `run` rolls back and is rethrown. Rejects with a
   * `RateLimitStoreError` if the transaction cannot begin or commit, takes too long, or still meets
   * conflicts after `retryFor`.
   */
  transaction<TResult>(
    run: (scope: RateLimitOperations<TLimits> & { tx: TTransaction }) => Promise<TResult>,
    options?: TransactionOptions,
  ): Promise<TResult>;

  /**
   * The operations inside a transaction that the caller has opened and owns. They hold the rows
   * they touch until it ends. A conflict aborts it, and only its owner can try again.
   */
  using(tx: TTransaction): RateLimitOperations<TLimits>;

  /** Deletes rows that are full again. Resolves with their number. Run it regularly. */
  prune(options?: PruneOptions): Promise<number>;

  /**
   * Deletes the rows of a key under all names, also those that this limiter does not know, and
   * under names of calls with a `config`. For users who leave. Resolves with the number of rows
   * deleted. Each deletion is atomic. A call that is in flight meanwhile, or comes later, makes a
   * new row. Each round trip is bounded by `timeout`: after a rejection, some rows may be deleted,
   * and the next call deletes the others. Rejects with a `RateLimitInputError` for a missing key:
   * it never deletes the shared bucket.
   *
   * @param key as in other calls; it is hashed if there is a `hashKey`.
   */
  forget(key: string): Promise<number>;

  /**
   * A page of the buckets of a limit, for an administrator's view. Every key that has rows from the
   * first page to the last is there exactly once. Rows that are full are there until they are
   * pruned. Each round trip is bounded by `timeout`. Rejects with a `RateLimitInputError` for an
   * `after` that is no `next` of this method.
   */
  list(name: LimitName<TLimits>, options: WithConfig<ListOptions>): Promise<LimitPage>;
  /** A page of the buckets of a limit, for an administrator's view. */
  list(name: keyof TLimits & string, options?: ListOptions): Promise<LimitPage>;

  /**
   * The config by which a call with this key is decided, with `start` filled in. Reads no row.
   * Throws where the call would reject.
   */
  configOf(name: LimitName<TLimits>, options: WithConfig<KeyOptions>): RateLimitConfig;
  /** The config by which a call with this key is decided, with `start` filled in. */
  configOf(name: keyof TLimits & string, options?: KeyOptions): RateLimitConfig;

  /**
   * The states of several limits in one round trip, for clients to calculate with. `value` and `ts`
   * are the row's own, so that what a client predicts is exactly what the server decides.
   */
  snapshots<TName extends keyof TLimits & string>(
    items: readonly (KeyOptions & { name: TName })[],
  ): Promise<RateLimitSnapshot<TName>[]>;

  /**
   * Calls `listener` with a digest after each change by this process, and after each change by
   * another process that the `channel` delivers. Compare it with `changeDigest(name, key)`. Returns
   * a function that ends that.
   */
  onChange(listener: ChangeListener): () => void;
}

/** A limiter with names that are only known at run time, for the package's own generic code. */
export interface UntypedRateLimiter extends UntypedOperations {
  readonly limits: LimitConfigs;
  readonly clock: () => number;
  check(name: string, options?: LimitOptions): Promise<RateLimitResult>;
  reset(name: string, options?: KeyOptions): Promise<void>;
  configOf(name: string, options?: KeyOptions): RateLimitConfig;
  transaction<TResult>(
    run: (scope: UntypedOperations & { tx: unknown }) => Promise<TResult>,
  ): Promise<TResult>;
}

export interface UntypedOperations {
  settle(result: RateLimitResult, actual: number): Promise<void>;
  limit(name: string, options?: LimitOptions): Promise<RateLimitResult>;
  limitAll(items: readonly LimitAllItem[], options?: LimitAllOptions): Promise<LimitAllResult>;
}
