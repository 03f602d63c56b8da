/**
 * Group commit: calls that wait while a batch is in flight go out together in the next one, in one
 * or two statements, whatever the number of keys. The longer the database takes, the more calls
 * each batch carries, so throughput grows with contention.
 *
 * `queue.ts` has the calls that wait, `flights.ts` the batches that were dispatched, and `ways` how a
 * batch is carried out. This file moves calls from one to the other.
 *
 * Measured and rejected on PostgreSQL:
 * - one batch in flight, and four;
 * - dispatching the next batch before the answered callers have called again (-50 %, 3 processes,
 *   many rows).
 */
import { startTimer, type Timer } from "../../timers/timer.js";
import { pauseBefore } from "../retry-conflicts.js";
import type { RowAccess } from "../row-access.js";
import type { Call, Decision, RateLimitStore } from "../store.js";
import type { Batch, Job, Outcome } from "./batch.js";
import { type BatchReports, createBatchReports } from "./batch-reports.js";
import { ASIDE_AFTER, Flights, WAITING_AFTER } from "./flights.js";
import { MAX_CALLS } from "./next-batch.js";
import { Queue } from "./queue.js";
import { createRowHistory, type RowHistory } from "./row-history.js";
import { Silence } from "./silence.js";
import { Ways } from "./ways/ways.js";

/** What several queues of one store may share. */
interface Shared {
  history: RowHistory;
  reports: BatchReports;
  /** Whether to end timers that nothing waits for, where timers cannot be left behind. */
  endsTimers: boolean;
}

type Lane = Pick<RateLimitStore, "apply" | "submit" | "onBatch" | "isSilentSince">;

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createGroupCommit(
  access: RowAccess,
  random: () => number = Math.random,
  shared: Shared = {
    history: createRowHistory(),
    reports: createBatchReports(),
    endsTimers: false,
  },
): Required<Lane> {
  const commit = new GroupCommit(access, random, shared);
  return {
    submit: commit.submit,
    apply: commit.apply,
    onBatch: shared.reports.subscribe,
    isSilentSince: (since) => commit.silence.isSilentSince(since),
  };
}

class GroupCommit {
  readonly silence: Silence;
  readonly #flights: Flights;
  readonly #ways: Ways;
  readonly #queue: Queue;
  #watcher: Timer | undefined;
  #isScheduled = false;
  /** Whether `access.prepare` is running. */
  #isPreparing = false;
  /** How often it has failed in a row. */
  #failures = 0;

  constructor(
    private readonly access: RowAccess,
    private readonly random: () => number,
    private readonly shared: Shared,
  ) {
    this.silence = new Silence(access);
    this.#flights = new Flights(access);
    this.#ways = new Ways(access, shared.history);
    this.#queue = new Queue(this.#ways, this.#flights);
  }

  /** A call is queued. */
  readonly submit = (job: Job): void => {
    if (this.#queue.add(job)) this.#schedule(queueMicrotask);
  };

  readonly apply = <TResult>(
    decisions: readonly Decision<TResult>[],
    call?: Call,
  ): Promise<TResult[]> => {
    const decide = (decision: Decision<TResult>) =>
      new Promise((resolve, reject) => {
        this.submit({
          decision,
          resolve,
          reject,
          get expired() {
            return call?.expired ?? false;
          },
        });
      });
    return Promise.all(decisions.map(decide)) as Promise<TResult[]>;
  };

  /** @param when by default in a microtask, so that calls made in the same tick share a batch. */
  #schedule(when: (run: () => void) => unknown): void {
    if (this.#isScheduled || this.#queue.size === 0) return;
    this.#isScheduled = true;
    when(this.#onSchedule);
  }

  readonly #onSchedule = (): void => {
    this.#isScheduled = false;
    this.#dispatch();
  };

  /** Batches are dispatched, as long as there is room for them. */
  readonly #dispatch = (): void => {
    if (this.#isPreparing) return;
    const prepared = this.access.prepare?.();
    if (prepared !== undefined) return this.#prepare(prepared);
    const flights = this.#flights;
    if (!flights.isIdle) flights.look(performance.now());
    while (this.#queue.size > 0 && flights.hasRoom) {
      const batch = this.#queue.next();
      if (batch === undefined) return;
      void this.#carryOut(batch);
    }
  };

  #prepare(prepared: Promise<void>): void {
    this.#isPreparing = true;
    const startedAt = performance.now();
    this.#watch();
    const end = () => {
      this.#isPreparing = false;
      this.#schedule(queueMicrotask);
    };
    prepared.then(
      () => {
        this.#failures = 0;
        this.silence.answered(performance.now());
        end();
      },
      (error: unknown) => {
        this.#failures++;
        if (this.access.isConflict(error)) {
          setTimeout(end, pauseBefore(this.#failures, this.random));
          return;
        }
        const calls = this.#queue.size;
        this.#queue.rejectAll(this.access.wrap(error));
        end();
        this.shared.reports.unprepared(calls, performance.now() - startedAt);
      },
    );
  }

  /** A batch is in flight until it is answered. */
  async #carryOut(batch: Batch): Promise<void> {
    const flights = this.#flights;
    flights.start(batch, performance.now());
    this.#watch();
    // One ms more, because timers may be early.
    const toAside = flights.mayGoAside(batch)
      ? setTimeout(this.#dispatch, ASIDE_AFTER + 1)
      : undefined;
    const outcome = await batch.way.carryOut(batch, flights.isHurried(batch));
    const now = performance.now();
    clearTimeout(toAside);
    if (!outcome.failed) this.silence.answered(now);
    flights.end(batch, now);
    if (flights.isIdle) this.#rest();
    this.#decideAgain(batch, outcome);
    // A large next batch goes out before the callers are answered. A small one waits for them: an
    // answered caller may call again at once, and can then join it.
    if (this.#queue.writers >= MAX_CALLS / 2) this.#dispatch();
    outcome.answer();
    this.#schedule(afterAnswers);
    this.shared.reports.answered(batch, outcome, now - batch.startedAt);
  }

  #decideAgain(batch: Batch, outcome: Outcome): void {
    const conflicts = this.#ways.finish(batch, outcome);
    const { again, nextWay } = outcome;
    if (again.length === 0) return;
    // Back off only if the same way is tried again, so that it does not meet the same conflict.
    const { name } = batch.way;
    if (name === "read" || name !== nextWay || conflicts === 0) {
      return this.#queue.putBack(batch, again);
    }
    const retry = () => {
      this.#queue.putBack(batch, again);
      this.#schedule(queueMicrotask);
    };
    setTimeout(retry, pauseBefore(conflicts, this.random));
  }

  /**
   * Looks for stalled batches in intervals. New calls do not, because calls on the rows of a batch
   * in flight are not dispatched.
   */
  #watch(): void {
    if (this.#watcher !== undefined) return this.#watcher.ref();
    this.#watcher = startTimer(() => {
      this.#watcher = undefined;
      if (this.#isPreparing || this.#flights.hasWaited(performance.now())) this.silence.look();
      if (this.#flights.isIdle && !this.#isPreparing) return;
      this.#watch();
      this.#dispatch();
    }, WAITING_AFTER);
  }

  /** Nothing needs the watcher now. */
  #rest(): void {
    if (!this.shared.endsTimers) return this.#watcher?.unref();
    this.#watcher?.stop();
    this.#watcher = undefined;
  }
}

/** Runs after the callers have handled their answers. Read early, before a test fakes timers. */
const afterAnswers: (run: () => void) => unknown = globalThis.setImmediate ?? queueMicrotask;
