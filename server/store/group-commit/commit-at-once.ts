/**
 * Group commit for a client that answers at once: all calls of one tick are one transaction, which
 * reads, decides and writes within that tick. No batch is ever in flight, so no call waits for a row.
 * Calls that only read have a transaction of their own, so that they also work where nothing can be
 * written.
 */
import { afterAnswers } from "../../timers/next-tick.js";
import { applyEach } from "../apply-each.js";
import type { Settled } from "../plan-writes.js";
import { pauseBefore } from "../retry-conflicts.js";
import type { RowAccess } from "../row-access.js";
import { type Decision, expiredError, rowKey } from "../store.js";
import type { Job, WayName } from "./batch.js";
import { BatchReports } from "./batch-reports.js";
import type { Lane } from "./group-commit.js";

type Access = Pick<RowAccess, "prepare" | "isConflict" | "wrap" | "serializable">;

/** How decisions are carried out. */
export interface TickRunner {
  /**
   * Runs a function without an `await` in it: at once, or after the transactions of the application
   * that came before it. Rejects with a conflict if these transactions take too long.
   */
  inTurn(run: () => void): Promise<void> | undefined;
  /** Applies decisions in one transaction, within this tick. A decision that throws fails alone. */
  transact(decisions: readonly Decision<unknown>[]): Settled[];
}

/** The most calls in one transaction. Other work of the process waits for the end of the transaction. */
const MAX_CALLS = 1024;
/** With more waiting calls than this, calls that have timed out are looked for and removed. */
const MANY_WAITING = 1000;

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createCommitAtOnce(
  access: Access,
  runner: TickRunner,
  random: () => number = Math.random,
): Lane {
  const commit = new CommitAtOnce(access, runner, random);
  return {
    submit: (job) => commit.submit(job),
    apply: applyEach((job) => commit.submit(job)),
    onBatch: commit.reports.subscribe,
    // Never silent: a call without an answer waits for a transaction of this process, or for another
    // process.
    isSilentSince: () => false,
  };
}

class CommitAtOnce {
  readonly reports = new BatchReports();
  #waiting: Job[] = [];
  #purgeAt = MANY_WAITING;
  #isScheduled = false;
  /** The number of conflicts in a row. */
  #conflicts = 0;

  constructor(
    private readonly access: Access,
    private readonly runner: TickRunner,
    private readonly random: () => number,
  ) {}

  submit(job: Job): void {
    this.#waiting.push(job);
    if (this.#waiting.length > this.#purgeAt) {
      this.#waiting = withoutExpired(this.#waiting);
      this.#purgeAt = Math.max(MANY_WAITING, 2 * this.#waiting.length);
    }
    this.#schedule(queueMicrotask);
  }

  /** In a microtask, so that calls made in the same tick share a transaction. */
  #schedule(when: (run: () => void) => unknown): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    when(() => void this.#run());
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const startedAt = performance.now();
    try {
      const prepared = this.access.prepare?.();
      if (prepared !== undefined) await prepared;
      const waited = this.runner.inTurn(() => this.#commitAll());
      if (waited !== undefined) await waited;
    } catch (error) {
      const jobs = this.#waiting;
      this.#waiting = [];
      if (!this.#fail(jobs, error)) {
        this.reports.unprepared(jobs.length, performance.now() - startedAt);
      }
    }
    this.#isScheduled = false;
    this.#schedule(afterAnswers);
  }

  #commitAll(): void {
    const jobs = withoutExpired(this.#waiting.slice(0, MAX_CALLS));
    this.#waiting = this.#waiting.slice(MAX_CALLS);
    const readers = jobs.filter(({ decision }) => decision.readOnly);
    const writers = readers.length === 0 ? jobs : jobs.filter(({ decision }) => !decision.readOnly);
    this.#commit("read", readers);
    this.#commit(this.access.serializable ? "lock" : "decide", writers);
  }

  #commit(way: WayName, jobs: Job[]): void {
    if (jobs.length === 0) return;
    const startedAt = performance.now();
    let conflicts = 0;
    let failed = false;
    try {
      const settled = this.runner.transact(jobs.map(({ decision }) => decision));
      this.#conflicts = 0;
      jobs.forEach((job, index) => answer(job, settled[index]!));
    } catch (error) {
      if (this.#fail(jobs, error)) conflicts = jobs.length;
      else failed = true;
    }
    if (this.reports.listeners.size === 0) return;
    const rows = new Set(jobs.flatMap(({ decision }) => decision.rows.map(rowKey))).size;
    const duration = performance.now() - startedAt;
    this.reports.report({ way, calls: jobs.length, rows, duration, conflicts, failed });
  }

  /**
   * Tries the calls again after a conflict, or rejects them. Returns whether the error was a conflict.
   */
  #fail(jobs: readonly Job[], error: unknown): boolean {
    if (!this.access.isConflict(error)) {
      for (const job of jobs) job.reject(this.access.wrap(error));
      return false;
    }
    this.#conflicts++;
    // Calls that come meanwhile do not wait for the calls in conflict: a call that only reads may find
    // no conflict.
    setTimeout(
      () => {
        this.#waiting = jobs.concat(this.#waiting);
        this.#schedule(queueMicrotask);
      },
      pauseBefore(this.#conflicts, this.random),
    );
    return true;
  }
}

function answer(job: Job, outcome: Settled): void {
  if (outcome.ok) job.resolve(outcome.result);
  else job.reject(outcome.error);
}

/** A call that has timed out must not consume tokens. */
function withoutExpired(jobs: readonly Job[]): Job[] {
  return jobs.filter((job) => {
    if (job.expired) job.reject(expiredError());
    return !job.expired;
  });
}
