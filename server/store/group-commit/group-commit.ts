/**
 * Group commit: calls that wait while a batch is in flight go out together in the next one, in one
 * or two statements, whatever the number of keys. The longer the database takes, the more calls
 * each batch carries, so throughput grows with contention.
 *
 * `queue.ts` has the calls that wait, and `flights.ts` the batches that were dispatched. The folder
 * `ways` says how a batch is carried out. This file moves calls from the queue into batches, and back.
 *
 * Measured and rejected on PostgreSQL:
 * - one batch in flight, and four;
 * - dispatching the next batch before the answered callers have called again (-50 %, 3 processes,
 *   many rows).
 */
import { afterAnswers } from "../../timers/next-tick.js";
import { startTimer, type Timer } from "../../timers/timer.js";
import { applyEach } from "../apply-each.js";
import { pauseBefore } from "../retry-conflicts.js";
import type { RowAccess } from "../row-access.js";
import type { RateLimitStore } from "../store.js";
import type { Batch, Job, Outcome } from "./batch.js";
import { BatchReports } from "./batch-reports.js";
import { ASIDE_AFTER, Flights, WAITING_AFTER } from "./flights.js";
import { MAX_CALLS } from "./next-batch.js";
import { Queue } from "./queue.js";
import { Silence } from "./silence.js";
import { SpentRows } from "./spent-rows.js";
import { Ways } from "./ways/ways.js";

/** The parts that several queues of one store may share. */
interface Shared {
  spent: SpentRows;
  reports: BatchReports;
  /** Whether to end timers that nothing waits for. Some platforms let no timer be left behind. */
  endsTimers: boolean;
}

/** The part of a store that batches calls. */
export type Lane = Required<Pick<RateLimitStore, "apply" | "submit" | "onBatch" | "isSilentSince">>;

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createGroupCommit(
  access: RowAccess,
  random: () => number = Math.random,
  shared: Shared = {
    spent: new SpentRows(),
    reports: new BatchReports(),
    endsTimers: false,
  },
): Lane {
  const commit = new GroupCommit(access, random, shared);
  return {
    submit: commit.submit,
    apply: applyEach(commit.submit),
    onBatch: shared.reports.subscribe,
    isSilentSince: (since) => commit.silence.isSilentSince(since),
  };
}

class GroupCommit {
  readonly silence: Silence;
  readonly #flights: Flights;
  readonly #ways: Ways;
  readonly #queue: Queue;
  /** A call that was submitted while nothing else waited or was in flight. Such a call needs no queue. */
  #lone: Job | undefined;
  #watcher: Timer | undefined;
  #isScheduled = false;
  /** Whether `access.prepare` is running. */
  #isPreparing = false;
  /** How often `access.prepare` has failed in a row. */
  #failures = 0;

  constructor(
    private readonly access: RowAccess,
    private readonly random: () => number,
    private readonly shared: Shared,
  ) {
    this.silence = new Silence(access);
    this.#flights = new Flights(access);
    this.#ways = new Ways(access, shared.spent);
    this.#queue = new Queue(this.#ways, this.#flights);
  }

  readonly submit = (job: Job): void => {
    if (!this.#isScheduled && this.#flights.isIdle && this.#queue.size === 0) {
      this.#lone = job;
      this.#isScheduled = true;
      queueMicrotask(this.#onSchedule);
      return;
    }
    this.#queueLone();
    if (this.#queue.add(job)) this.#schedule(queueMicrotask);
  };

  /** @param when in a microtask, so that calls made in the same tick share a batch, or later. */
  #schedule(when: (run: () => void) => unknown): void {
    if (this.#isScheduled || this.#queue.size === 0) return;
    this.#isScheduled = true;
    when(this.#onSchedule);
  }

  readonly #onSchedule = (): void => {
    this.#isScheduled = false;
    this.#dispatch();
  };

  /** Dispatches batches, as long as there is room for them. */
  readonly #dispatch = (): void => {
    if (this.#isPreparing) return this.#queueLone();
    const prepared = this.access.prepare?.();
    if (prepared !== undefined) return this.#prepare(prepared);
    if (this.#lone !== undefined) {
      const take = this.#ways.alone(this.#lone);
      if (take === undefined) this.#queueLone();
      else {
        this.#lone = undefined;
        return void this.#carryOut(take);
      }
    }
    const flights = this.#flights;
    if (!flights.isIdle) flights.look(performance.now());
    while (this.#queue.size > 0 && flights.hasRoom) {
      const batch = this.#queue.next();
      if (batch === undefined) return;
      void this.#carryOut(batch);
    }
  };

  #queueLone(): void {
    if (this.#lone === undefined) return;
    this.#queue.add(this.#lone);
    this.#lone = undefined;
  }

  #prepare(prepared: Promise<void>): void {
    this.#isPreparing = true;
    this.#queueLone();
    const startedAt = performance.now();
    if (this.#watcher === undefined) this.#watch();
    const end = () => {
      this.#isPreparing = false;
      this.#schedule(queueMicrotask);
    };
    prepared.then(
      () => {
        this.#failures = 0;
        this.silence.answeredAt = performance.now();
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

  /** Sends a batch, which is in flight until it is answered. */
  async #carryOut(batch: Batch): Promise<void> {
    const flights = this.#flights;
    const queue = this.#queue;
    const { reports, endsTimers } = this.shared;
    const isHurried = flights.start(batch, performance.now());
    if (this.#watcher === undefined) this.#watch();
    const isLocking = batch.way === this.#ways.lock;
    // One ms more, because timers may be early.
    const toAside =
      isLocking && flights.mayGoAside(batch)
        ? setTimeout(this.#dispatch, ASIDE_AFTER + 1)
        : undefined;
    const outcome = await batch.way.carryOut(batch, isHurried);
    const now = performance.now();
    if (toAside !== undefined) clearTimeout(toAside);
    if (!outcome.failed) this.silence.answeredAt = now;
    flights.end(batch, now);
    if (endsTimers && flights.isIdle) this.#endWatch();
    const conflicts = this.#ways.finish(batch, outcome);
    if (outcome.again.length > 0) this.#decideAgain(batch, outcome, conflicts);
    // A large next batch goes out before the callers are answered. A small batch waits for the callers:
    // an answered caller may call again at once, and can then join the batch.
    if (queue.size >= MAX_CALLS / 2 && queue.writers >= MAX_CALLS / 2) this.#dispatch();
    outcome.answer();
    if (queue.size > 0) this.#schedule(afterAnswers);
    if (reports.listeners.size > 0) reports.answered(batch, outcome, now - batch.startedAt);
  }

  /** @param conflicts in a row, see `Ways.finish`. */
  #decideAgain(batch: Batch, { again, nextWay }: Outcome, conflicts: number): void {
    // Back off only if the same way is tried again, so that the calls do not meet the same conflict.
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
   * Looks for stalled batches in intervals. New calls do not look, because a call on the rows of a
   * batch in flight dispatches nothing. The timer does not keep the process alive: the statements that
   * the callers wait for do.
   */
  #watch(): void {
    this.#watcher = startTimer(() => {
      this.#watcher = undefined;
      if (this.#isPreparing || this.#flights.hasWaited(performance.now())) this.silence.look();
      if (this.#flights.isIdle && !this.#isPreparing) return;
      this.#watch();
      this.#dispatch();
    }, WAITING_AFTER);
    this.#watcher.unref();
  }

  #endWatch(): void {
    this.#watcher?.stop();
    this.#watcher = undefined;
  }
}
