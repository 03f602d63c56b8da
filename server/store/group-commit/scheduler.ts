/**
 * Group commit: calls that wait while a batch is in flight go out together in the next one, in one
 * or two statements, whatever the number of keys. The longer the database takes, the more calls
 * each batch carries, so throughput grows with contention.
 *
 * Measured and rejected on PostgreSQL:
 * - one batch in flight, and four;
 * - dispatching the next batch before the answered callers have called again (-50 %, 3 processes,
 *   many rows).
 */
import { type LazyTimer, lazyTimer } from "../../lazy-timer.js";
import { pauseBefore } from "../retry.js";
import type { RowAccess } from "../row-access.js";
import { type Call, type Decision, expiredError, type RateLimitStore, rowKey } from "../store.js";
import { type Batch, createBatch, type Job, joinLine, sharesTerms, type Way } from "./batch.js";
import { type BatchOutcome, commitBatch } from "./commit-batch.js";
import { commitLines } from "./commit-lines.js";
import { createRowHistory } from "./row-history.js";

/** The most rows in one batch. Few enough for two batches to share the rows of many callers. */
const MAX_ROWS = 256;
/** The most calls in one batch. */
const MAX_CALLS = 1024;
/**
 * A batch in flight for longer than this, ms, has stalled: other batches are dispatched as if it
 * were not in flight. Its connection may have gone silent.
 */
const STALLED_AFTER = 5000;
/** The same for a take of one row, which may wait for a transaction that holds the row. */
const WAITING_AFTER = 100;
/** The most stalled batches. Each of them keeps a connection. */
const MAX_STALLED = 2;
/** With more waiting calls than this, the queue is searched for expired ones. */
const MANY_WAITING = 1000;

/** The state of a call that has to be decided again. */
interface Detour {
  way: Way;
  /** The number of conflicts in a row. */
  conflicts: number;
}

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createGroupCommit(
  access: RowAccess,
  random: () => number = Math.random,
): RateLimitStore {
  const history = createRowHistory();
  let queue: Job[] = [];
  /** Calls that only read. They wait for no row, and all of them go out in one batch. */
  let readers: Job[] = [];
  let readLast = false;
  const detours = new Map<Job, Detour>();
  /** Rows that a batch in flight may write. Calls on them wait until it is done. */
  const busy = new Set<string>();
  /** When each batch in flight was dispatched, by the monotonic clock. */
  const inFlight = new Map<Batch, number>();
  const stalled = new Set<Batch>();
  let watcher: LazyTimer | undefined;
  let scheduled = false;
  let purgeAt = MANY_WAITING;

  /** Dispatches in a microtask, so that calls made in the same tick share the first batch. */
  function schedule(when: (run: () => void) => unknown = queueMicrotask): void {
    if (scheduled || queue.length + readers.length === 0) return;
    scheduled = true;
    when(() => {
      scheduled = false;
      dispatch();
    });
  }

  function dispatch(): void {
    leaveStalledBehind();
    while (inFlight.size < access.maxInFlight) {
      // Alternate between one batch of readers and one of writers, so that neither waits for long.
      const canRead = readers.length > 0 && !isInFlight("read");
      const readFirst = canRead && !(readLast && queue.length > 0);
      let batch = readFirst ? takeReaders() : takeWriters();
      if (batch === undefined && canRead) batch = readFirst ? takeWriters() : takeReaders();
      if (batch === undefined) return;
      readLast = batch.way === "read";
      void runBatch(batch);
    }
  }

  function isInFlight(way: Way): boolean {
    for (const batch of inFlight.keys()) if (batch.way === way) return true;
    return false;
  }

  async function runBatch(batch: Batch): Promise<void> {
    inFlight.set(batch, performance.now());
    if (batch.way !== "read") for (const id of batch.rows.keys()) busy.add(id);
    watch();
    // While a batch is stalled, a take waits for its row for a bounded time only.
    const outcome = await (batch.way === "take"
      ? commitLines(batch, access, stalled.size === 0)
      : commitBatch(batch, access));
    for (const id of outcome.written) history.written(id);
    for (const [id, until] of outcome.spent) history.spent(id, until);
    if (!stalled.delete(batch)) {
      inFlight.delete(batch);
      release(batch);
    }
    if (inFlight.size === 0) watcher?.unref();
    const conflicts = outcome.conflicted ? 1 + mostConflicts(outcome.again) : 0;
    if (detours.size > 0) for (const job of batch.jobs) detours.delete(job);
    if (outcome.again.length > 0) enqueueAgain(batch, outcome, conflicts);
    // A large next batch goes out before the callers are answered. A small one waits for them: an
    // answered caller may call again at once, and can then join it.
    if (queue.length >= MAX_CALLS / 2) dispatch();
    outcome.answer();
    schedule(afterAnswers);
  }

  function release({ rows, way }: Batch): void {
    if (way !== "read") for (const id of rows.keys()) busy.delete(id);
  }

  /** The highest number of conflicts in a row among these calls. */
  function mostConflicts(jobs: readonly Job[]): number {
    let most = 0;
    if (detours.size === 0) return most;
    for (const job of jobs) most = Math.max(most, detours.get(job)?.conflicts ?? 0);
    return most;
  }

  /** Puts the calls before those that came later. */
  function enqueueAgain(batch: Batch, { again, nextWay }: BatchOutcome, conflicts: number): void {
    if (batch.way === "read") {
      readers = again.concat(readers);
      return;
    }
    for (const job of again) detours.set(job, { way: nextWay, conflicts });
    // Back off only if the same way is tried again, so that it does not meet the same conflict.
    if (batch.way !== nextWay || conflicts === 0) {
      queue = again.concat(queue);
      return;
    }
    setTimeout(
      () => {
        queue = again.concat(queue);
        schedule();
      },
      pauseBefore(conflicts, random),
    );
  }

  /**
   * Looks for stalled batches in intervals. New calls do not, because calls on the rows of a batch
   * in flight are not dispatched.
   */
  function watch(): void {
    if (watcher !== undefined) return watcher.ref();
    watcher = lazyTimer(() => {
      watcher = undefined;
      if (inFlight.size === 0) return;
      watch();
      dispatch();
    }, WAITING_AFTER);
  }

  /**
   * Releases the rows of stalled batches: a silent connection must not delay calls that another
   * connection could carry. If a stalled batch writes after all, its writes are guarded.
   */
  function leaveStalledBehind(): void {
    const now = performance.now();
    for (const [batch, startedAt] of inFlight) {
      if (stalled.size === MAX_STALLED) return;
      if (now - startedAt < patience(batch)) continue;
      inFlight.delete(batch);
      stalled.add(batch);
      release(batch);
    }
  }

  function takeReaders(): Batch | undefined {
    const batch = createBatch("read");
    for (const job of readers) if (isWaiting(job)) addTo(batch, job);
    readers = [];
    return batch.jobs.length > 0 ? batch : undefined;
  }

  /** The oldest calls whose rows no batch in flight may write. */
  function takeWriters(): Batch | undefined {
    let batch: Batch | undefined;
    let waiting: Job[] = [];
    // A waiting call blocks its rows for the calls behind it. Otherwise a call on several rows
    // might never find all of them free at the same time.
    const blocked = queue.length > 1 ? new Set(busy) : busy;
    const isLocking = isInFlight("lock");
    for (let index = 0; index < queue.length; index++) {
      if (batch !== undefined && batch.jobs.length >= MAX_CALLS) {
        waiting = waiting.concat(queue.slice(index));
        break;
      }
      const job = queue[index]!;
      if (!isWaiting(job)) continue;
      const way = wayOf(job);
      const { rows, plain } = job.decision;
      if (!rows.some((row) => blocked.has(rowKey(row))) && !(isLocking && way === "lock")) {
        if (batch === undefined) {
          batch = begin(way, job);
          if (batch !== undefined) continue;
        } else if (batch.way === way) {
          if (way !== "take") {
            if (join(batch, job)) continue;
          } else if (sharesTerms(batch, plain!)) {
            const fits = batch.rows.has(rowKey(rows[0]!)) || batch.rows.size < MAX_ROWS;
            if (fits && joinLine(batch, job, plain!)) continue;
          } else {
            // Plain takes in flight together have no order, so this one does not block its row.
            waiting.push(job);
            continue;
          }
        }
      }
      waiting.push(job);
      if (blocked !== busy) for (const row of rows) blocked.add(rowKey(row));
    }
    queue = waiting;
    return batch;
  }

  function wayOf(job: Job): Way {
    if (access.serializable) return "lock";
    const detour = detours.size > 0 ? detours.get(job) : undefined;
    if (detour !== undefined) return detour.way;
    const { plain, rows } = job.decision;
    if (plain === undefined) return "decide";
    const now = () => timeOf(plain.clock) ?? NaN;
    return history.isSpent(rowKey(rows[0]!), now) ? "decide" : "take";
  }

  function begin(way: Way, job: Job): Batch | undefined {
    const { plain } = job.decision;
    if (way !== "take" || plain === undefined) {
      const batch = createBatch(way);
      addTo(batch, job);
      return batch;
    }
    const now = timeOf(plain.clock);
    // Databases and JavaScript treat NaN differently, and a clock may throw. Leave both to
    // `decide`.
    if (now === undefined) {
      detours.set(job, { way: "decide", conflicts: 0 });
      return begin("decide", job);
    }
    const batch = createBatch("take", plain, now);
    joinLine(batch, job, plain);
    return batch;
  }

  /** A batch with locks takes no further rows, so that they are not locked longer than needed. */
  function join(batch: Batch, job: Job): boolean {
    const mayAdd = (batch.way !== "lock" || access.serializable) && batch.rows.size < MAX_ROWS;
    if (!mayAdd && !job.decision.rows.every((row) => batch.rows.has(rowKey(row)))) return false;
    addTo(batch, job);
    return true;
  }

  /** A call that has timed out must not consume tokens. */
  function isWaiting(job: Job): boolean {
    if (!job.expired) return true;
    detours.delete(job);
    job.reject(expiredError());
    return false;
  }

  function submit(job: Job): void {
    const { decision } = job;
    const waiting = decision.readOnly ? readers : queue;
    waiting.push(job);
    if (queue.length + readers.length > purgeAt) {
      // The database has not answered for long, or there are many callers.
      queue = queue.filter(isWaiting);
      readers = readers.filter(isWaiting);
      purgeAt = Math.max(MANY_WAITING, 2 * (queue.length + readers.length));
    }
    // A call on a busy row waits for the end of that batch. Searching the whole queue for each new
    // call would take longer than deciding the calls.
    const mustWait = !decision.readOnly && busy.has(rowKey(decision.rows[0]!));
    if (!mustWait) schedule();
  }

  return {
    submit,
    apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      const decide = (decision: Decision<TResult>) =>
        new Promise((resolve, reject) => {
          submit({
            decision,
            resolve,
            reject,
            get expired() {
              return call?.expired ?? false;
            },
          });
        });
      return Promise.all(decisions.map(decide)) as Promise<TResult[]>;
    },
  };
}

function patience({ way, rows }: Batch): number {
  return way === "take" && rows.size === 1 ? WAITING_AFTER : STALLED_AFTER;
}

function addTo(batch: Batch, job: Job): void {
  batch.jobs.push(job);
  for (const row of job.decision.rows) batch.rows.set(rowKey(row), row);
}

function timeOf(clock: () => number): number | undefined {
  try {
    const now = clock();
    return Number.isFinite(now) ? now : undefined;
  } catch {
    return undefined;
  }
}

/** Runs after the callers have handled their answers. Read early, before a test fakes timers. */
const afterAnswers: (run: () => void) => unknown = globalThis.setImmediate ?? queueMicrotask;
