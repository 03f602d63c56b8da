/**
 * One try of a transaction that the store owns: begins the transaction, runs the application's function
 * in it, and ends it. Every wait has a bound. After a conflict, no call sends a statement: the database
 * may have rolled the transaction back already. After the end, no call that the function has left
 * behind sends a statement.
 */
import { RateLimitStoreError } from "../../../core/errors.js";
import { WriteConflictError } from "../retry-conflicts.js";
import type { RowAccess } from "../row-access.js";
import {
  type Decision,
  type JoinedStore,
  rowKey,
  type RowId,
  type TransactionOptions,
} from "../store.js";
import type { TransactionStore } from "./decisions-inside.js";
import { within } from "./time-limits.js";

/** How much longer than the driver a try waits, ms. The driver's own error says more. */
const GRACE = 1000;

/** How the store begins transactions, and joins them. */
export interface TransactionAccess<TTransaction> extends Pick<RowAccess, "isConflict"> {
  /** Runs `run` in a Serializable transaction. Rejects with the same error as `run`. */
  transact<TResult>(
    run: (tx: TTransaction) => Promise<TResult>,
    options: Pick<TransactionOptions, "timeout" | "maxWait">,
  ): Promise<TResult>;
  /** Prepares a transaction that has begun, before its first statement. */
  prepare(tx: TTransaction): Promise<void>;
  /** The limits inside the transaction. @param queued whether to queue for locks */
  join(tx: TTransaction, queued: boolean): TransactionStore;
  /**
   * Queues for the locks of rows, and then joins. `joinInTurn` is called before the first statement of
   * the transaction. Absent if `join` queues. The turn needs a second connection, so one transaction at
   * a time calls `joinInTurn`.
   */
  joinInTurn: ((tx: TTransaction, rows: readonly RowId[]) => Promise<TransactionStore>) | undefined;
  /** See `RateLimitStore.whyLate`. */
  whyLate(): string;
}

export interface TryOptions {
  /** The bounds that the application has given. The driver has defaults of its own. */
  given: Pick<TransactionOptions, "timeout" | "maxWait">;
  timeout: number;
  maxWait: number;
  /** Whether to queue for locks. */
  queued: boolean;
  /** The rows over which the transaction has met a conflict before. */
  lost: readonly RowId[];
  /** Whether it is the turn of another transaction to use the row. */
  mustYield(row: RowId): boolean;
}

export class OneTry<TTransaction, TResult> {
  /** The error that the function has thrown, or the conflict that it has hidden. */
  thrown: { error: unknown } | undefined;
  /** The rows that the function had used when it met a conflict over them. */
  lost: readonly RowId[] | undefined;
  readonly #access: TransactionAccess<TTransaction>;
  readonly #options: TryOptions;
  readonly #run: (tx: TTransaction, store: JoinedStore) => Promise<TResult>;
  /** The rows that the function has used so far, by `rowKey`. */
  readonly #used = new Map<string, RowId>();
  #conflict: { error: unknown } | undefined;
  #isLate = false;

  constructor(
    access: TransactionAccess<TTransaction>,
    options: TryOptions,
    run: (tx: TTransaction, store: JoinedStore) => Promise<TResult>,
  ) {
    this.#access = access;
    this.#options = options;
    this.#run = run;
  }

  /** The driver bounds a try too, but not if its connection has gone silent. */
  async result(): Promise<TResult> {
    const { given, maxWait, timeout } = this.#options;
    let markBegun = () => {};
    const begun = new Promise<void>((resolve) => (markBegun = resolve));
    const work = this.#access.transact((tx) => this.#runFrom(tx, markBegun), given);
    await within(Promise.race([begun, work]), maxWait + GRACE, () =>
      this.#late(
        `the rate limit store did not begin a transaction within ${maxWait} ms` +
          this.#access.whyLate(),
      ),
    );
    return within(work, timeout + GRACE, () =>
      this.#late(`the transaction of the rate limit store took longer than ${timeout} ms`),
    );
  }

  #late(message: string): RateLimitStoreError {
    this.#isLate = true;
    return new RateLimitStoreError(message);
  }

  async #runFrom(tx: TTransaction, markBegun: () => void): Promise<TResult> {
    // The connection has come too late.
    if (this.#isLate) throw new WriteConflictError();
    markBegun();
    const { prepare, join, joinInTurn } = this.#access;
    const { queued, lost } = this.#options;
    await prepare(tx);
    const inTurn = queued ? await joinInTurn?.(tx, lost) : undefined;
    return this.#runIn(tx, inTurn ?? join(tx, queued));
  }

  async #runIn(tx: TTransaction, store: TransactionStore): Promise<TResult> {
    try {
      const result = await this.#run(tx, this.#observed(store));
      await store.settled();
      // The function has hidden the conflict.
      if (this.#conflict !== undefined) throw this.#conflict.error;
      return result;
    } catch (error) {
      this.thrown = { error };
      throw error;
    } finally {
      store.end(new Error("the transaction has ended; await every call inside its function"));
    }
  }

  /** Notes the rows that are used, and a conflict over them. */
  #observed(store: TransactionStore): JoinedStore {
    const observe = async <TAnswer>(work: () => Promise<TAnswer>): Promise<TAnswer> => {
      try {
        return await work();
      } catch (error) {
        if (this.#access.isConflict(error)) this.#noteConflict(store, error);
        throw error;
      }
    };
    const using = ({ apply }: Pick<JoinedStore, "apply">): JoinedStore["apply"] => {
      return async (decisions, call) => {
        this.#use(decisions);
        return apply(decisions, call);
      };
    };
    const apply = using(store);
    return {
      apply: (...call) => observe(() => apply(...call)),
      list: (...page) => observe(() => store.list(...page)),
      earliest: (...of) => observe(() => store.earliest(...of)),
      inTurn: (work) =>
        observe(() => store.inTurn((inside) => work({ ...inside, apply: using(inside) }))),
    };
  }

  /** @throws WriteConflictError where it is the turn of another transaction to use a row. */
  #use(decisions: readonly Pick<Decision<unknown>, "rows">[]): void {
    const used = this.#used;
    const rows = decisions.flatMap((decision) => decision.rows);
    const mustYield = rows.some((row) => this.#options.mustYield(row) && !used.has(rowKey(row)));
    for (const row of rows) used.set(rowKey(row), row);
    if (mustYield) throw new WriteConflictError();
  }

  #noteConflict(store: TransactionStore, error: unknown): void {
    if (this.#conflict !== undefined) return;
    this.#conflict = { error };
    this.lost = [...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    store.end(error);
  }
}
