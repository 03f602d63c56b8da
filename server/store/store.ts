/**
 * The seam between limits and databases. A limiter supplies decisions: pure functions over named
 * rows. A store supplies atomicity. There is one exception: a decision that only takes tokens from
 * one row says so in `plain`, and a SQL store may then carry it out inside one statement.
 */
import { bucketId } from "../../core/bucket-id.js";
import type { Row } from "../../core/rows/row.js";
import type { Bucket } from "../../core/config.js";
import { RateLimitStoreError } from "../../core/errors.js";
import type { BatchListener } from "./batch-event.js";
import type { Call } from "./call.js";
import type { OverrideTable } from "./override-table.js";
import type { FoundSums, SumTerms } from "./sums.js";

export type { Call } from "./call.js";

/** Identifies a row. `key` is `""` for the shared bucket; a caller's key is never empty. */
export interface RowId {
  /** The limit. */
  name: string;
  /** The key of the bucket; `""` for the shared bucket. */
  key: string;
  /** The index of the shard, from 0. */
  shard: number;
  /** The `rowKey` of the row, if it was computed before. Every call needs this key several times. */
  id?: string;
  /**
   * One shard's part of the config that the call was made with, if the caller knows it. A store may
   * need the config to tell when the row will be full again.
   */
  config?: Bucket | undefined;
}

/** A row that exists, and its state. */
export interface FoundRow {
  readonly row: RowId;
  readonly state: Row;
}

/** The result of a decision on the states that it received. */
export interface Outcome<TResult> {
  /** The answer to the caller. */
  result: TResult;
  /**
   * One entry per row, in the order of `rows`: a state to write, `null` to delete the row, or
   * `undefined` to leave it as it is. Absent: nothing is written. A row that is left as it is has no
   * guard. So give `undefined` only if a concurrent change of the row cannot make the writes wrong.
   * Otherwise give the row's state back, which guards the row: `null` for a row that does not exist.
   */
  writes?: readonly (Row | null | undefined)[] | undefined;
}

/**
 * An atomic step. `decide` is pure. `decide` may run more than once, on newer states each time, and
 * only the last run counts. The state `null` stands for a row that does not exist.
 */
export interface Decision<TResult> {
  /** The rows whose states `decide` receives, in this order. */
  rows: readonly RowId[];
  /** Never writes, so it need not wait for decisions that write. */
  readOnly?: boolean;
  /**
   * Present if the decision can be made on the first of its rows alone, by taking tokens there. A store
   * may then take the tokens by itself, with the formula of `takeTokens` in `core`, and call `granted`
   * for the answer. If there are too few tokens, or if the store does not have this feature, the store
   * runs `decide`.
   */
  readonly plain?: PlainTake<TResult> | undefined;
  /**
   * Call `decide` as a method. A decision may inherit `decide`, so a spread copy of the decision may
   * lack it.
   */
  decide(states: readonly (Row | null)[]): Outcome<TResult>;
}

/** The data with which a store can take tokens from one row by itself. */
export interface PlainTake<TResult> {
  /**
   * The config of the first row, without shards and with `start` filled in. The config's period is a
   * number, unless the config is of a time zone. A store that cannot calculate with time zones runs
   * `decide`.
   */
  readonly config: Bucket;
  /** Tokens wanted, above 0. */
  readonly count: number;
  /** The least that the take may leave; see `floorOf`. */
  readonly floor: number;
  /**
   * The least that counts as used before the take, from 0 on. For the block of a lease, this number is
   * what refills while the block may live.
   * @default 0
   */
  readonly least?: number | undefined;
  /**
   * The least that must be used for the take, which then begins no window. A row that does not exist is
   * refused where the take would use more than `quiet`.
   * @default no bound
   */
  readonly over?: number | undefined;
  /**
   * The most that a take with `over` may use of a row that does not exist.
   * @default 0
   */
  readonly quiet?: number | undefined;
  /** The limiter's clock, epoch ms. */
  readonly clock: () => number;
  /**
   * The answer once the tokens are taken.
   *
   * @param next the state that was written.
   * @param later tokens that the same write took for calls after this one.
   * @param now the time of the decision, epoch ms.
   */
  granted(next: Row, later: number, now: number): TResult;
}

/** A call for one decision that receives its result by callback instead of by promise. */
export interface Submission<TResult> extends Call {
  readonly decision: Decision<TResult>;
  resolve(result: TResult): void;
  reject(error: unknown): void;
}

/**
 * Where the rows are. A store supplies atomicity, and leaves the arithmetic to the decisions.
 *
 * @typeParam TTransaction the database client's type of a transaction.
 */
export interface RateLimitStore<TTransaction = unknown> {
  /**
   * Applies decisions that are independent of each other. Each decision is atomic, in some serial order
   * with all other decisions of every process. Resolves with their results, in order.
   *
   * Rejects when the database fails, and with the error that a `decide` throws. A denial is a result.
   * After a rejection, decisions may or may not have been applied. Decisions are never applied if
   * `call.expired` was true before they were sent.
   */
  apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]>;

  /**
   * `apply` for a single decision, by callbacks. In stores where many calls wait at a time, `submit`
   * saves the promises of each call. Never throws. A wrapper of a store that replaces `apply` has to
   * remove `submit`, or to replace it too.
   *
   * Measured and rejected: `apply` alone (-75 % with 512 callers on one key, -25 % on 10,000).
   */
  submit?<TResult>(submission: Submission<TResult>): void;

  /**
   * Applies decisions inside a transaction that the caller owns. The decisions take effect when the
   * transaction commits. Rejects with a conflict as the database reports it, so that the owner can
   * retry. If a conflict may have rolled the transaction back, all later calls reject with that
   * conflict, too. If the returned store has no `list`, a denied call does not find holds that have
   * lapsed.
   */
  using?(tx: TTransaction): JoinedStore;

  /**
   * Runs `run` in a Serializable transaction. Retries conflicts until `retryFor` has passed. Rejects
   * with the errors of `run` as they are, and with a `RateLimitStoreError` if the transaction cannot
   * begin or commit, takes too long, or still meets conflicts at the end.
   */
  transaction?<TResult>(
    run: (tx: TTransaction, store: JoinedStore) => Promise<TResult>,
    options: TransactionOptions,
  ): Promise<TResult>;

  /** The time by which limits go, epoch ms, unless the limiter is given a clock. */
  readonly clock?: (() => number) | undefined;

  /**
   * By how much `clock` may be behind the time of the database, ms. Blocks of fixed windows end that
   * much earlier. Optional: without this method, the clock is exact. A wrapper of a store should pass
   * the method on.
   */
  clockBehind?(): number;

  /**
   * By how much `clock` may be ahead of the time of the database, ms. A slot whose holder is silent is
   * taken that much later. Optional: without this method, the clock is exact. A wrapper of a store
   * should pass the method on.
   */
  clockAhead?(): number;

  /**
   * Whether the database is silent, and has been so since `since` (by the monotonic clock). A call that
   * times out is an outage only then. Otherwise the store was too busy for the call: a transaction held
   * its row, or the application held all connections. Optional: without this method, each call that
   * times out is an outage. A wrapper of a store should pass the method on.
   */
  isSilentSince?(since: number): boolean;
  /**
   * Why a call that has just timed out had to wait, as far as the store can tell: the end of the
   * error's message, or `""`. A wrapper of a store should pass this method on.
   */
  whyLate?(): string;

  /**
   * Calls `listener` after each batch of `apply` and `submit`, for metrics. The returned function ends
   * these calls. A batch that gets no answer is not reported. If the store cannot use its table at all,
   * the rejected calls are reported as one failed `read` of no rows.
   *
   * `listener` must not throw; the limiter's does not. Optional: a store without this method reports
   * nothing. Without listeners, reports cost nothing. A wrapper of a store should pass the method on.
   */
  onBatch?(listener: BatchListener): () => void;

  /**
   * Calls `listener` when the database client's pool reports an error that no call receives, such as
   * the end of a connection that was not in use. The returned function ends these calls. `listener` is
   * called only where the application does not listen to the pool itself. Optional, as `onBatch` is.
   */
  onPoolError?(listener: (error: unknown) => void): () => void;

  /**
   * At most `count` rows of a name, by key and then by shard. The order of keys is fixed, and up to the
   * store. The list starts after the position `after`, where no row need exist: a `shard` of -1 stands
   * before all shards of a key, and 2^31 - 1 after them. A list of fewer rows than `count` has the last
   * rows.
   *
   * @param prefix only rows whose key begins with `prefix`. In the order of the store, other rows may
   * stand between them. A store may ignore `prefix`: the limiter then leaves other rows out itself, and
   * reads more pages.
   */
  list?(name: string, after: RowId | undefined, count: number, prefix?: string): Promise<RowId[]>;

  /**
   * At most `count` rows of a name whose key begins with `prefix`, and their states: the rows with the
   * least `ts` first. `earliest` should take no longer than a read of all rows with this prefix,
   * whatever else the database holds. Optional: without this method, the limiter lists the rows with
   * this prefix by `list`, and reads them. A wrapper of a store should pass the method on.
   */
  earliest?(name: string, prefix: string, count: number): Promise<FoundRow[]>;

  /**
   * Sums up the counters of a name by bucket, see `sums.ts`, and gives the buckets with the most.
   * `name` is one of counters of usage. Optional: without this method, the limiter lists all rows of the
   * name, and reads those of the range. A wrapper of a store should pass the method on.
   *
   * @param call a store that needs many round trips begins no other one once the call has expired.
   */
  sums?(name: string, terms: SumTerms, call?: Call): Promise<FoundSums>;

  /**
   * The names of all rows, each once, in any order. A name whose rows come or go meanwhile may be
   * left out. Each step of the iteration is one round trip at most, and takes time in proportion to
   * the names and not to the rows, where the database can do that.
   */
  names?(): AsyncIterable<string>;

  /**
   * The table of overrides. Optional: without this table, a limiter with `overrides` is refused. A
   * wrapper of a store should pass the table on.
   */
  readonly overrides?: OverrideTable | undefined;

  /**
   * Deletes rows that are full, page by page. Yields the number of rows deleted by each page. A row may
   * be kept although it is full, but only a full row may be deleted: the test and the deletion are one
   * atomic step. No page holds locks for long, or waits for a locked row. Optional: without this
   * method, the limiter uses `list` and `apply`, which takes longer.
   */
  prune?(terms: PruneTerms): AsyncIterable<number>;
}

/**
 * The decisions of one transaction. The decisions run one after the other. `list` and `earliest` show
 * the rows that the transaction sees.
 */
export interface JoinedStore extends Pick<RateLimitStore, "apply" | "list" | "earliest"> {
  /**
   * Runs `work` in the turn of a decision. `work` sends statements and decisions, and no statement of
   * another call comes between them. Rejects like `apply`. Optional: without this method, the limiter
   * calls `apply` and the table of overrides one after the other.
   */
  inTurn?<TResult>(work: (inside: InsideTurn) => Promise<TResult>): Promise<TResult>;
}

/** The methods of a turn in a transaction. */
export interface InsideTurn extends Pick<RateLimitStore, "apply"> {
  /**
   * Runs `statement`, which must go by the connection of the transaction. After the end of the
   * transaction, rejects without running `statement`.
   */
  send<TResult>(statement: () => Promise<TResult>): Promise<TResult>;
}

/** The terms by which rows are full. */
export interface PruneTerms {
  /**
   * By the name of a limit: one shard's part of each config that its rows may be charged with. A row is
   * full only if it is full under all of these configs. The `start` of these configs matters for months
   * only: other windows follow from the `ts` of the row.
   */
  readonly configs: ReadonlyMap<string, readonly Bucket[]>;
  /** The instant at which the rows have to be full, epoch ms. */
  readonly before: number;
}

/** The options of `transaction`. */
export interface TransactionOptions {
  /** How long one try may take, ms. @default the Prisma client's own, or 5000 */
  timeout?: number;
  /** How long each try may wait for a connection, ms. @default the Prisma client's own, or 2000 */
  maxWait?: number;
  /**
   * How long conflicts are retried for, ms, over all tries. The wait for other transactions of the
   * same store counts too: at most eight are open at a time.
   * @default 10000
   */
  retryFor?: number;
}

/** As the shard of a position in `list`: after all shards of its key. */
export const LAST_SHARD = 2 ** 31 - 1;

/** For calls that expired before the store began them. */
export function expiredError(): RateLimitStoreError {
  return new RateLimitStoreError("the call timed out before the store began it");
}

/** A row with its {@link rowKey} computed. */
export function rowId(name: string, key: string, shard: number, config?: Bucket): RowId {
  return { name, key, shard, id: `${bucketId(name, key)}\0${shard}`, config };
}

/**
 * The position before all keys that begin with `prefix`, for an order in which such keys follow each
 * other; see `RateLimitStore.list`.
 */
export function firstWith(name: string, prefix: string | undefined): RowId | undefined {
  return prefix ? rowId(name, prefix, -1) : undefined;
}

/** One string per row, for maps. Names and keys hold no NUL, so no two rows share a string. */
export function rowKey(row: RowId): string {
  return row.id ?? `${bucketId(row.name, row.key)}\0${row.shard}`;
}

/**
 * The order in which every process locks rows, so that two statements cannot wait for each other's
 * rows.
 */
export function compareLockOrder(a: RowId, b: RowId): number {
  return rowKey(a) < rowKey(b) ? -1 : 1;
}
