/**
 * Transactions that the store owns: the store runs the application's function in a Serializable
 * transaction, together with the limits that the function calls. The store retries conflicts
 * (`retry-conflicts.ts` says after which pause), and tells errors of the store from errors of the
 * application.
 *
 * After a conflict the transaction stands in line for the rows that it has lost, in this process. After
 * some more conflicts, the transaction queues for the locks of these rows, in the database.
 */
import { RateLimitStoreError } from "../../../core/errors.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { RETRY_FOR, retryConflicts, WriteConflictError } from "../retry-conflicts.js";
import type { RowAccess } from "../row-access.js";
import {
  type JoinedStore,
  type RateLimitStore,
  rowKey,
  type RowId,
  type TransactionOptions,
} from "../store.js";
import { OneTry, type TransactionAccess, type TryOptions } from "./one-try.js";
import { createRowLines } from "./row-lines.js";
import { createSemaphore } from "./semaphore.js";
import { MAX_WAIT, TIMEOUT } from "./time-limits.js";

/** The most transactions of a store at a time. Each one keeps a connection. */
const MAX_OPEN = 8;
/** After this many conflicts over the same rows, a transaction queues for their locks. */
const QUEUE_AFTER = 3;
/**
 * The same number for a transaction that stands in line for the rows, so that only other processes can
 * hold the rows.
 */
const QUEUE_AFTER_IN_LINE = 2;

export interface TransactionRunnerOptions<TTransaction>
  extends TransactionAccess<TTransaction>, Pick<RowAccess, "wrap"> {
  /** The driver's defaults. */
  defaults: Pick<TransactionOptions, "timeout" | "maxWait"> | undefined;
}

type Run<TTransaction, TResult> = (tx: TTransaction, store: JoinedStore) => Promise<TResult>;

export function createTransactionRunner<TTransaction>(
  options: TransactionRunnerOptions<TTransaction>,
): NonNullable<RateLimitStore<TTransaction>["transaction"]> {
  const queues = createQueues(options);
  return async (run, { retryFor = RETRY_FOR, ...given }) => {
    const { timeout = options.defaults?.timeout ?? TIMEOUT } = given;
    const { maxWait = options.defaults?.maxWait ?? MAX_WAIT } = given;
    return new OwnedTransaction(options, queues, run, {
      given,
      timeout,
      maxWait,
      retryFor,
    }).result();
  };
}

/** The queues in which the transactions of a store wait in this process. */
type Queues = ReturnType<typeof createQueues>;

function createQueues({ joinInTurn }: Pick<TransactionAccess<never>, "joinInTurn">) {
  return {
    open: createSemaphore(MAX_OPEN),
    /** For `joinInTurn`. */
    turn: createSemaphore(1),
    lines: createRowLines(),
    // There are no lines where `join` queues: the database has lines of its own, and the next
    // transaction in them is ready sooner. There are no lines where requests own their I/O, either: a
    // cancelled request would stay in its lines for ever.
    hasLines: joinInTurn !== undefined && !requestsOwnIo(),
  };
}

interface Bounds extends Pick<TryOptions, "given" | "timeout" | "maxWait"> {
  retryFor: number;
}

/** All tries of one transaction. */
class OwnedTransaction<TTransaction, TResult> {
  readonly #options: TransactionRunnerOptions<TTransaction>;
  readonly #queues: Queues;
  readonly #run: Run<TTransaction, TResult>;
  readonly #bounds: Bounds;
  readonly #until: number;
  #lastTry: OneTry<TTransaction, TResult> | undefined;
  /** The rows that the transaction had used when it met its last conflict over them. */
  #lost: readonly RowId[] = [];
  #losses = 0;
  /** The rows whose lines this transaction is at the head of, by `rowKey`. */
  #inLineFor: ReadonlySet<string> = new Set();
  #leaveLines = () => {};

  constructor(
    options: TransactionRunnerOptions<TTransaction>,
    queues: Queues,
    run: Run<TTransaction, TResult>,
    bounds: Bounds,
  ) {
    this.#options = options;
    this.#queues = queues;
    this.#run = run;
    this.#bounds = bounds;
    this.#until = performance.now() + bounds.retryFor;
  }

  async result(): Promise<TResult> {
    const { isConflict, wrap } = this.#options;
    const { retryFor } = this.#bounds;
    try {
      return await retryConflicts(() => this.#tryInLine(), { retryFor, isConflict });
    } catch (error) {
      const isOwn = error instanceof RateLimitStoreError || this.#lastTry?.thrown?.error === error;
      throw isOwn && !isConflict(error) ? error : wrap(error);
    } finally {
      this.#leaveLines();
    }
  }

  async #tryInLine(): Promise<TResult> {
    if (this.#queues.hasLines) await this.#enterLines();
    const close = await this.#queues.open.acquire(this.#left(), () => {
      const { retryFor } = this.#bounds;
      return new RateLimitStoreError(`${MAX_OPEN} transactions were open for ${retryFor} ms`);
    });
    return this.#tryInTurn().finally(close);
  }

  /** Stands in line for the rows that it has lost, over all of its tries. */
  async #enterLines(): Promise<void> {
    const lost = this.#lost;
    if (lost.every((row) => this.#inLineFor.has(rowKey(row)))) return;
    this.#leaveLines();
    this.#leaveLines = () => {};
    this.#inLineFor = new Set();
    const late = () => new WriteConflictError();
    this.#leaveLines = await this.#queues.lines.enter(lost, this.#left(), late);
    this.#inLineFor = new Set(lost.map(rowKey));
  }

  async #tryInTurn(): Promise<TResult> {
    const isInLine = this.#inLineFor.size > 0;
    const queued = this.#losses >= (isInLine ? QUEUE_AFTER_IN_LINE : QUEUE_AFTER);
    if (!queued || this.#options.joinInTurn === undefined) return this.#try(queued);
    const leave = await this.#queues.turn.acquire(this.#left(), () => new WriteConflictError());
    return this.#try(queued).finally(leave);
  }

  async #try(queued: boolean): Promise<TResult> {
    const { lines } = this.#queues;
    const oneTry = new OneTry<TTransaction, TResult>(
      this.#options,
      {
        ...this.#bounds,
        queued,
        lost: this.#lost,
        mustYield: (row) => lines.has(row) && !this.#inLineFor.has(rowKey(row)),
      },
      this.#run,
    );
    this.#lastTry = oneTry;
    try {
      return await oneTry.result();
    } finally {
      if (oneTry.lost !== undefined) {
        this.#losses++;
        this.#lost = oneTry.lost;
      }
    }
  }

  /** For how long the transaction may still wait, ms. */
  #left(): number {
    return this.#until - performance.now();
  }
}
