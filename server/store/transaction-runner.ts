/**
 * Runs the application's function in a Serializable transaction, together with the limits that it
 * calls. It retries conflicts, bounds everything that it waits for, and tells errors of the store
 * from errors of the application.
 */
import { MAX_TIMEOUT } from "../../core/durations.js";
import { RateLimitStoreError } from "../../core/errors.js";
import { retryConflicts, WriteConflictError } from "./retry-conflicts.js";
import type { RowAccess } from "./row-access.js";
import { createSemaphore } from "./semaphore.js";
import { type RateLimitStore, rowKey, type RowId, type TransactionOptions } from "./store.js";

/** The most transactions of a store at a time. Each one keeps a connection. */
const MAX_OPEN = 8;
/** After this many conflicts over the same rows, a transaction queues for their locks. */
const QUEUE_AFTER = 3;
/** How much longer than the driver this module waits, ms. The driver's own error says more. */
const GRACE = 1000;

const RETRY_FOR = 10_000;
const TIMEOUT = 5000;
const MAX_WAIT = 2000;

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
  join(tx: TTransaction, queued: boolean): Apply;
  /**
   * Queues for the locks of rows, and then joins. It is called before the first statement of the
   * transaction. Absent if `join` queues. It uses a second connection, so one transaction at a time
   * calls it.
   */
  joinInTurn: ((tx: TTransaction, rows: readonly RowId[]) => Promise<Apply>) | undefined;
  /** The driver's defaults. */
  defaults: Pick<TransactionOptions, "timeout" | "maxWait"> | undefined;
}

export function createTransactionRunner<TTransaction>(
  options: TransactionRunnerOptions<TTransaction>,
): NonNullable<RateLimitStore<TTransaction>["transaction"]> {
  const { transact, prepare, join, joinInTurn, isConflict, wrap, defaults } = options;
  const open = createSemaphore(MAX_OPEN);
  const turn = createSemaphore(1);

  return async (run, { retryFor = RETRY_FOR, ...given }) => {
    const { timeout = defaults?.timeout ?? TIMEOUT } = given;
    const { maxWait = defaults?.maxWait ?? MAX_WAIT } = given;
    const until = performance.now() + retryFor;
    /** The rows that the transaction had used when it met its last conflict over them. */
    let lost: readonly RowId[] = [];
    let losses = 0;
    let thrown: { error: unknown } | undefined;

    /** Notes conflicts over the rows of limits. */
    function observed(store: Apply): Apply {
      const used = new Map<string, RowId>();
      return {
        async apply(decisions, call) {
          for (const { rows } of decisions) for (const row of rows) used.set(rowKey(row), row);
          try {
            return await store.apply(decisions, call);
          } catch (error) {
            if (isConflict(error)) {
              losses++;
              lost = [...used].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
            }
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
        try {
          return await run(tx, observed(inTurn ?? join(tx, queued)));
        } catch (error) {
          thrown = { error };
          throw error;
        }
      }, given);
      const late = (message: string) => () => {
        isLate = true;
        return new RateLimitStoreError(message);
      };
      await within(
        Promise.race([begun, work]),
        maxWait + GRACE,
        late(`the rate limit store did not begin a transaction within ${maxWait} ms`),
      );
      const lateEnd = late(
        `the transaction of the rate limit store took longer than ${timeout} ms`,
      );
      return within(work, timeout + GRACE, lateEnd);
    }

    async function attemptInTurn() {
      const queued = losses >= QUEUE_AFTER;
      if (!queued || joinInTurn === undefined) return attempt(queued);
      const leave = await turn.acquire(until - performance.now(), () => new WriteConflictError());
      return attempt(queued).finally(leave);
    }

    const close = await open.acquire(
      retryFor,
      () => new RateLimitStoreError(`${MAX_OPEN} transactions were open for ${retryFor} ms`),
    );
    try {
      const left = until - performance.now();
      return await retryConflicts(attemptInTurn, { retryFor: left, isConflict });
    } catch (error) {
      const isOwn = error instanceof RateLimitStoreError || thrown?.error === error;
      throw isOwn && !isConflict(error) ? error : wrap(error);
    } finally {
      close();
    }
  };
}

/** Rejects with the error of `late` if `work` takes longer than `ms`. */
function within<TResult>(work: Promise<TResult>, ms: number, late: () => Error): Promise<TResult> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.min(ms, MAX_TIMEOUT));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
