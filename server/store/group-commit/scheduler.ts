/**
 * Group commit: calls that wait while a batch is in flight go out together in the next one, in one
 * or two statements for all of them, whatever the number of keys. The longer the database takes,
 * the more each batch carries, so throughput grows with contention.
 *
 * Measured and rejected on PostgreSQL: one batch in flight, and four; dispatching the next batch
 * before those just answered have called again (-50 %, 3 processes, many rows).
 */
import { type LazyTimer, lazyTimer } from "../../lazy-timer.js";
import { pauseBefore } from "../retry.js";
import type { RowAccess } from "../row-access.js";
import { type Call, type Decision, expiredError, type RateLimitStore, rowKey } from "../store.js";
import { type Batch, createBatch, type Job, joinLine, sharesTerms, type Way } from "./batch.js";
import { type BatchOutcome, commitBatch } from "./commit-batch.js";
import { commitLines } from "./commit-lines.js";
import { createRowHistory } from "./row-history.js";

/** The most rows in one batch: few enough for two batches to share what many callers want. */
const MAX_ROWS = 256;
/** The most calls in one batch. */
const MAX_CALLS = 1024;
/**
 * A batch in flight for longer than this, ms, has stalled: it no longer keeps others from being
 * dispatched. Its connection may have gone silent.
 */
const STALLED_AFTER = 5000;
/** The same for a take of one row, which may be waiting for a transaction that holds the row. */
const WAITING_AFTER = 100;
/** So many stalled batches at most, because each keeps a connection. */
const MAX_STALLED = 2;
/** Past so many waiting calls, those that have expired are looked for. */
const MANY_WAITING = 1000;

/** A call that has left the way on which calls begin. */
interface Detour {
  way: Way;
  /** How often in a row others were in the way. */
  conflicts: number;
}

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createGroupCommit(
  access: RowAccess,
  random: () => number = Math.random,
): RateLimitStore {
  const history = createRowHistory();
  let queue: Job[] = [];
  /** Calls that only read. They wait for no row, and go out together, however many. */
  let readers: Job[] = [];
  let readLast = false;
  const detours = new Map<Job, Detour>();
  /** Rows that a batch in flight may write; calls on them wait for the next one. */
  const busy = new Set<string>();
  /** When each batch in flight was dispatched, by the monotonic clock. */
  const inFlight = new Map<Batch, number>();
  const stalled = new Set<Batch>();
  let watcher: LazyTimer | undefined;
  let scheduled = false;
  let purgeAt = MANY_WAITING;

  /** A tick later, so that calls made in the same tick share the first batch too. */
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
      // One batch of readers at a time, and then one of writers if there are any, so that neither
      // keep the others waiting.
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
    // Once a take has waited for long, the others wait for a bounded time only.
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
    // The next batch goes out while these are answered, if there is enough for it to carry.
    // Otherwise it waits for them: who was just answered may call again, and should not miss it.
    if (queue.length >= MAX_CALLS / 2) dispatch();
    outcome.answer();
    schedule(afterAnswers);
  }

  function release({ rows, way }: Batch): void {
    if (way !== "read") for (const id of rows.keys()) busy.delete(id);
  }

  /** How often in a row others were in the way of the unluckiest of these calls. */
  function mostConflicts(jobs: readonly Job[]): number {
    let most = 0;
    if (detours.size === 0) return most;
    for (const job of jobs) most = Math.max(most, detours.get(job)?.conflicts ?? 0);
    return most;
  }

  /** Ahead of calls that came later. */
  function enqueueAgain(batch: Batch, { again, nextWay }: BatchOutcome, conflicts: number): void {
    if (batch.way === "read") {
      readers = again.concat(readers);
      return;
    }
    for (const job of again) detours.set(job, { way: nextWay, conflicts });
    // Only what is tried again as it was has to wait, so that it does not collide again.
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
   * Looks for stalled batches now and then. New calls would not find out, because calls on the rows
   * of a batch in flight are not dispatched.
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
   * A connection that went silent must not hold up calls that others could carry. What the batch
   * writes in the end is guarded like all else.
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

  /** The calls that have waited longest, of those whose rows no batch in flight may write. */
  function takeWriters(): Batch | undefined {
    let batch: Batch | undefined;
    let waiting: Job[] = [];
    // A call that has to wait is not overtaken on any of its rows, or several rows would never be
    // free at a time.
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
            // Plain takes that are in flight together have no order, so nothing waits for this one.
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
    // Databases and JavaScript do not agree about NaN, and a clock may throw: `decide` says how.
    if (now === undefined) {
      detours.set(job, { way: "decide", conflicts: 0 });
      return begin("decide", job);
    }
    const batch = createBatch("take", plain, now);
    joinLine(batch, job, plain);
    return batch;
  }

  /** Rows are not kept locked for the sake of others, unless all is done under locks. */
  function join(batch: Batch, job: Job): boolean {
    const mayAdd = (batch.way !== "lock" || access.serializable) && batch.rows.size < MAX_ROWS;
    if (!mayAdd && !job.decision.rows.every((row) => batch.rows.has(rowKey(row)))) return false;
    addTo(batch, job);
    return true;
  }

  /** A call whose caller has been told that the store failed must not consume any more. */
  function isWaiting(job: Job): boolean {
    if (!job.expired) return true;
    detours.delete(job);
    job.reject(expiredError());
    return false;
  }

  function submit(job: Job): void {
    const { decision } = job;
    const line = decision.readOnly ? readers : queue;
    line.push(job);
    if (queue.length + readers.length > purgeAt) {
      // The database has been silent for long, or there are many callers.
      queue = queue.filter(isWaiting);
      readers = readers.filter(isWaiting);
      purgeAt = Math.max(MANY_WAITING, 2 * (queue.length + readers.length));
    }
    // Most calls that wait in their hundreds want a row that is busy, and whose release they
    // follow; to look through all of them for each one more would take longer than to decide them.
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

/** Once all that follows from answers given now has run. Taken early, before a test fakes timers. */
const afterAnswers: (run: () => void) => unknown = globalThis.setImmediate ?? queueMicrotask;
