/**
 * The seam between limits and databases. A limiter says what to decide, as pure functions over
 * named rows; a store supplies atomicity. There is one exception: a decision that only takes tokens
 * from one row may say so, and then a SQL store can carry it out inside of one statement.
 */
import type { RateLimitState } from "../../core/calculate.js";
import type { RateLimitConfig } from "../../core/config.js";
import { RateLimitStoreError } from "../../core/errors.js";

/** Which row: `key` is `""` for the shared bucket, which no caller's key can be. */
export interface RowId {
  name: string;
  key: string;
  shard: number;
  /** See {@link rowKey}; kept by those who made it before, because every call needs it often. */
  id?: string;
}

/** What a decision makes of the states it was shown. */
export interface Outcome<TResult> {
  result: TResult;
  /**
   * One entry per row, in the order of `rows`: a state to write, `null` to delete the row, or
   * `undefined` to leave it. Absent: nothing is written. A row that is left is not guarded, so
   * leave only rows whose change in the meantime would not make the writes wrong.
   */
  writes?: readonly (RateLimitState | null | undefined)[] | undefined;
}

/**
 * An atomic step. `decide` is pure and may be run more than once, on newer states each time; the
 * last run is the one that counts. `null` is a row that does not exist.
 */
export interface Decision<TResult> {
  rows: readonly RowId[];
  /** Never writes, so that it need not wait for those that do. */
  readOnly?: boolean;
  /**
   * Says that the decision takes tokens from its only row and does nothing else. A store may then
   * carry out the grant by itself, with the formula of `takeTokens` in `core`, and ask for the
   * answer here. A store that does not know how to do so runs `decide` like any other.
   */
  readonly plain?: PlainTake<TResult> | undefined;
  /** Belongs to its decision, so a copy made of the decision's own properties lacks it. */
  decide(states: readonly (RateLimitState | null)[]): Outcome<TResult>;
}

/** What a store needs to know to take tokens from one row by itself. */
export interface PlainTake<TResult> {
  /** The config of that row: without shards, with `start` filled in. */
  readonly config: RateLimitConfig;
  /** Tokens wanted, above 0. */
  readonly count: number;
  /** The least that may be left; see `floorOf`. */
  readonly floor: number;
  /** The limiter's clock, epoch ms. */
  readonly clock: () => number;
  /**
   * The answer once the tokens are taken.
   *
   * @param next the state that was written.
   * @param later tokens that the same write took for calls that come after this one.
   * @param now when that was decided, epoch ms.
   */
  granted(next: RateLimitState, later: number, now: number): TResult;
}

/** Lets a store drop work that nobody waits for any more. */
export interface Call {
  /** Whether the caller has been told that the store failed. */
  readonly expired: boolean;
}

/** A call for one decision that is told its result, rather than given a promise of it. */
export interface Submission<TResult> extends Call {
  readonly decision: Decision<TResult>;
  resolve(result: TResult): void;
  reject(error: unknown): void;
}

/** @typeParam TTransaction what the database's transactions are handed around as. */
export interface RateLimitStore<TTransaction = unknown> {
  /**
   * Applies decisions that are independent of each other: each one atomic, in some serial order
   * with all others in this and every other process. Resolves with their results, in order.
   *
   * Rejects when the database fails, and with whatever a `decide` throws; a denial is a result.
   * After a rejection, decisions may or may not have been applied, unless `call.expired` was set
   * before they were sent: those are never applied.
   */
  apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]>;

  /**
   * `apply` for a single decision; for stores in which many calls wait at a
   * time, where every promise between a caller and the database is one more per call. Never throws.
   * Who wraps the `apply` of a store has to leave this out, or to wrap it as well.
   */
  submit?<TResult>(submission: Submission<TResult>): void;

  /**
   * Applies decisions inside a transaction that its caller owns: they take effect when it commits.
   * Rejects with a conflict, as the database reports it, for the owner to retry.
   */
  using?(tx: TTransaction): Pick<RateLimitStore, "apply">;

  /** Runs `run` in a Serializable transaction, again after conflicts until `retryFor` has passed. */
  transaction?<TResult>(
    run: (tx: TTransaction, store: Pick<RateLimitStore, "apply">) => Promise<TResult>,
    options: TransactionOptions,
  ): Promise<TResult>;

  /** Rows of a name in a fixed order, those after `after`, `count` of them at most. */
  list?(name: string, after: RowId | undefined, count: number): Promise<RowId[]>;
}

export interface TransactionOptions {
  /** How long one try may take, ms. @default 5000, Prisma's */
  timeout?: number;
  /** How long to wait for a connection, ms. @default 2000, Prisma's */
  maxWait?: number;
  /** How long conflicts are retried for, ms, over all tries. @default 10000 */
  retryFor?: number;
}

/** For calls that expired before anything was done about them. */
export function expiredError(): RateLimitStoreError {
  return new RateLimitStoreError("the call was given up before the store got to it");
}

/** A row, with its {@link rowKey} at hand. */
export function rowId(name: string, key: string, shard: number): RowId {
  return { name, key, shard, id: `${name}\0${key}\0${shard}` };
}

/** One string per row, for maps. Names and keys hold no NUL, so no two rows share one. */
export function rowKey(row: RowId): string {
  return row.id ?? `${row.name}\0${row.key}\0${row.shard}`;
}
