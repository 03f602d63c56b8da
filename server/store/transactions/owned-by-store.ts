/**
 * Runs the application's function in a Serializable transaction, together with the limits that it
 * calls. It retries conflicts, bounds everything that it waits for, and tells errors of the store
 * from errors of the application.
 */
import { RateLimitStoreError } from "../../../core/errors.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { startTimer } from "../../timers/timer.js";
import { retryConflicts, WriteConflictError } from "../retry-conflicts.js";
import type { RowAccess } from "../row-access.js";
import { createRowLines } from "./row-lines.js";
import { createSemaphore } from "./semaphore.js";
import type { TransactionStore } from "./decisions-inside.js";
import { MAX_WAIT, TIMEOUT } from "./time-limits.js";
import { type RateLimitStore, rowKey, type RowId, type TransactionOptions } from "../store.js";

/** The most transactions of a store at a time. Each one keeps a connection. */
const MAX_OPEN = 8;
/** After this many conflicts over the same rows, a transaction queues for their locks. */
const QUEUE_AFTER = 3;
/** The same for one that stands in line for the rows, so that only other processes can hold them. */
const QUEUE_AFTER_IN_LINE = 2;
/** How much longer than the driver this module waits, ms. The driver's own error says more. */
const GRACE = 1000;

const RETRY_FOR = 10_000;

type Apply = Pick<RateLimitStore, "apply">;

export interface TransactionRunnerOptions<TTransaction> extends Pick<
  RowAccess,
  "isConflict" | "wrap"
> {
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
   * Queues for the locks of rows, and then joins. It is called before the first statement of the
   * transaction. Absent if `join` queues. It uses a second connection, so one transaction at a time
   * calls it.
   */
  joinInTurn: ((tx: TTransaction, rows: readonly RowId[]) => Promise<TransactionStore>) | undefined;
  /** See `RateLimitStore.whyLate`. */
  whyLate(): string;
  /** The driver's defaults. */
  defaults: Pick<TransactionOptions, "timeout" | "maxWait"> | undefined;
}

export function createTransactionRunner<TTransaction>(
  options: TransactionRunnerOptions<TTransaction>,
): NonNullable<RateLimitStore<TTransaction>["transaction"]> {
  const { transact, prepare, join, joinInTurn, isConflict, wrap, whyLate, defaults } = options;
  const open = createSemaphore(MAX_OPEN);
  const turn = createSemaphore(1);
  const lines = createRowLines();
  // A request that was cancelled would stay in its lines for ever.
  const hasLines = joinInTurn !== undefined && !requestsOwnIo();

  return async <TResult>(
    run: (tx: TTransaction, store: Apply) => Promise<TResult>,
    { retryFor = RETRY_FOR, ...given }: TransactionOptions,
  ): Promise<TResult> => {
    const { timeout = defaults?.timeout ?? TIMEOUT } = given;
    const { maxWait = defaults?.maxWait ?? MAX_WAIT } = given;
    const until = performance.now() + retryFor;
    /** The rows that the transaction had used when it met its last conflict over them. */
    let lost: readonly RowId[] = [];
    let losses = 0;
    /** The rows whose lines this transaction is at the head of, by `rowKey`. */
    let inLineFor: ReadonlySet<string> = new Set();
    let leaveLines = () => {};
    let thrown: { error: unknown } | undefined;

    /**
     * Runs the function. After a conflict no call sends a statement: the database may have rolled
     * the transaction back already. Nor does any call that the function leaves behind.
     */
    async function runIn(tx: TTransaction, store: TransactionStore): Promise<TResult> {
      let conflict: { error: unknown } | undefined;
      const conflicted = (error: unknown, used: ReadonlyMap<string, RowId>) => {
        if (conflict !== undefined) return;
        conflict = { error };
        losses++;
        lost = [...used].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
        store.end(error);
      };
      try {
        const result = await run(tx, observed(store, conflicted));
        await store.settled();
        // The function has hidden it.
        if (conflict !== undefined) throw conflict.error;
        return result;
      } catch (error) {
        thrown = { error };
        throw error;
      } finally {
        store.end(new Error("the transaction has ended; await every call inside its function"));
      }
    }

    /** @param conflicted is told of a conflict, and of the rows that were used so far. */
    function observed(
      store: Apply,
      conflicted: (error: unknown, used: ReadonlyMap<string, RowId>) => void,
    ): Apply {
      const used = new Map<string, RowId>();
      return {
        async apply(decisions, call) {
          const rows = decisions.flatMap((decision) => decision.rows);
          const mustYield = rows.some((row) => {
            const id = rowKey(row);
            return lines.has(row) && !inLineFor.has(id) && !used.has(id);
          });
          for (const row of rows) used.set(rowKey(row), row);
          try {
            if (mustYield) throw new WriteConflictError();
            return await store.apply(decisions, call);
          } catch (error) {
            if (isConflict(error)) conflicted(error, used);
            throw error;
          }
        },
      };
    }

    /** One try. The driver bounds it too, but not if its connection has gone silent. */
    async function attempt(queued: boolean) {
      let markBegun = () => {};
      const begun = new Promise<void>((resolve) => (markBegun = resolve));
      let isLate = false;
      thrown = undefined;
      const work = transact(async (tx) => {
        if (isLate) throw new WriteConflictError();
        markBegun();
        await prepare(tx);
        const inTurn = queued ? await joinInTurn?.(tx, lost) : undefined;
        return runIn(tx, inTurn ?? join(tx, queued));
      }, given);
      const late = (message: string, why: () => string) => () => {
        isLate = true;
        return new RateLimitStoreError(message + why());
      };
      await within(
        Promise.race([begun, work]),
        maxWait + GRACE,
        late(`the rate limit store did not begin a transaction within ${maxWait} ms`, whyLate),
      );
      const lateEnd = late(
        `the transaction of the rate limit store took longer than ${timeout} ms`,
        () => "",
      );
      return within(work, timeout + GRACE, lateEnd);
    }

    /** Stands in line for the rows that it has lost, over all of its tries. */
    async function enterLines() {
      // The database has lines of its own, and the next transaction in it is ready sooner.
      if (!hasLines) return;
      if (lost.every((row) => inLineFor.has(rowKey(row)))) return;
      leaveLines();
      leaveLines = () => {};
      inLineFor = new Set();
      leaveLines = await lines.enter(lost, until - performance.now(), () => {
        return new WriteConflictError();
      });
      inLineFor = new Set(lost.map(rowKey));
    }

    async function attemptInTurn() {
      await enterLines();
      const close = await open.acquire(until - performance.now(), () => {
        return new RateLimitStoreError(`${MAX_OPEN} transactions were open for ${retryFor} ms`);
      });
      return attemptQueued().finally(close);
    }

    async function attemptQueued() {
      const queued = losses >= (inLineFor.size > 0 ? QUEUE_AFTER_IN_LINE : QUEUE_AFTER);
      if (!queued || joinInTurn === undefined) return attempt(queued);
      const leave = await turn.acquire(until - performance.now(), () => new WriteConflictError());
      return attempt(queued).finally(leave);
    }

    try {
      return await retryConflicts(attemptInTurn, { retryFor, isConflict });
    } catch (error) {
      const isOwn = error instanceof RateLimitStoreError || thrown?.error === error;
      throw isOwn && !isConflict(error) ? error : wrap(error);
    } finally {
      leaveLines();
    }
  };
}

/** Rejects with the error of `late` if `work` takes longer than `ms`. */
function within<TResult>(work: Promise<TResult>, ms: number, late: () => Error): Promise<TResult> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => reject(late()), ms);
    work.then(resolve, reject).finally(() => timer.stop());
  });
}
