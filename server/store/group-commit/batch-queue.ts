/**
 * The calls that wait for a batch. It chooses which of them go out next, and on which way: a batch
 * takes the oldest calls, and no row that a batch in flight may write.
 */
import type { RowAccess } from "../row-access.js";
import { expiredError, rowKey, type RowId } from "../store.js";
import { type Batch, createBatch, type Job, joinLine, sharesTerms, type Way } from "./batch.js";
import type { BatchOutcome } from "./commit-general.js";
import type { RowHistory } from "./row-history.js";

/** The most rows in one batch. Few enough for two batches to share the rows of many callers. */
const MAX_ROWS = 256;
/** The most calls in one batch. */
export const MAX_CALLS = 1024;
/** With more waiting calls than this, the queue is searched for expired ones. */
const MANY_WAITING = 1000;

export interface BatchQueue {
  /** The number of waiting calls that may write. */
  readonly writers: number;
  /** The number of all waiting calls. */
  readonly size: number;
  /** @returns false if the call has to wait for the end of a batch that is in flight. */
  add(job: Job): boolean;
  /** The next batch, or `undefined` if no call can go out now. */
  next(inFlight: { reading: boolean; locking: boolean }): Batch | undefined;
  /** Calls on the rows of a batch in flight wait until they are released. */
  occupy(batch: Batch): void;
  release(batch: Batch): void;
  /**
   * Remembers on which way the calls of a batch are decided again.
   *
   * @returns the conflicts in a row that they have met; 0 if this was none.
   */
  finish(batch: Batch, outcome: BatchOutcome): number;
  /** Rejects all waiting calls. */
  rejectAll(error: Error): void;
  /** Puts calls that are decided again before those that came later. */
  putBack(batch: Batch, jobs: readonly Job[]): void;
}

/** The state of a call that has to be decided again. */
interface Detour {
  way: Way;
  /** The number of conflicts in a row. */
  conflicts: number;
}

export function createBatchQueue(access: RowAccess, history: RowHistory): BatchQueue {
  let writers: Job[] = [];
  /** Calls that only read. They wait for no row, and all of them go out in one batch. */
  let readers: Job[] = [];
  let readLast = false;
  const detours = new Map<Job, Detour>();
  const busy = new Set<string>();
  let purgeAt = MANY_WAITING;

  function takeReaders(): Batch | undefined {
    const batch = createBatch("read");
    for (const job of readers) if (isWaiting(job)) addTo(batch, job);
    readers = [];
    return batch.jobs.length > 0 ? batch : undefined;
  }

  /** The oldest calls whose rows no batch in flight may write. */
  function takeWriters(locking: boolean): Batch | undefined {
    let batch: Batch | undefined;
    let waiting: Job[] = [];
    // A waiting call blocks its rows for the calls behind it. Otherwise a call on several rows
    // might never find all of them free at the same time.
    const blocked = writers.length > 1 ? new Set(busy) : busy;
    for (let index = 0; index < writers.length; index++) {
      if (batch !== undefined && batch.jobs.length >= MAX_CALLS) {
        waiting = waiting.concat(writers.slice(index));
        break;
      }
      const job = writers[index]!;
      if (!isWaiting(job)) continue;
      const way = wayOf(job);
      const rows = rowsOf(job, way);
      const isFree = !rows.some((row) => blocked.has(rowKey(row))) && !(locking && way === "lock");
      if (isFree && batch === undefined) {
        batch = begin(way, job);
        continue;
      }
      if (isFree && join(batch!, job, way)) continue;
      waiting.push(job);
      // Plain takes of one row have no order, so one with other terms does not block its row.
      if (isFree && way === "take" && batch!.way === way && !sharesTerms(batch!, job)) continue;
      if (blocked !== busy) for (const row of rows) blocked.add(rowKey(row));
    }
    writers = waiting;
    return batch;
  }

  function wayOf(job: Job): Way {
    if (access.serializable) return "lock";
    const detour = detours.size > 0 ? detours.get(job) : undefined;
    if (detour !== undefined) return detour.way;
    const { plain, rows } = job.decision;
    if (plain === undefined) return "decide";
    return history.isSpent(rowKey(rows[0]!), () => timeOf(plain.clock) ?? NaN) ? "decide" : "take";
  }

  function begin(way: Way, job: Job): Batch {
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

  function join(batch: Batch, job: Job, way: Way): boolean {
    if (batch.way !== way) return false;
    const { plain } = job.decision;
    const rows = rowsOf(job, way);
    const isInBatch = (row: RowId) => batch.rows.has(rowKey(row));
    // Calls with locks share a batch only if they share rows: they would have to wait for each
    // other. Other rows are not locked longer than needed.
    const mayAdd = way !== "lock" || access.serializable || rows.some(isInBatch);
    if (!(mayAdd && batch.rows.size < MAX_ROWS) && !rows.every(isInBatch)) return false;
    if (way === "take") return sharesTerms(batch, job) && joinLine(batch, job, plain!);
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

  /** The highest number of conflicts in a row among these calls. */
  function mostConflicts(jobs: readonly Job[]): number {
    let most = 0;
    if (detours.size === 0) return most;
    for (const job of jobs) most = Math.max(most, detours.get(job)?.conflicts ?? 0);
    return most;
  }

  return {
    get writers() {
      return writers.length;
    },
    get size() {
      return writers.length + readers.length;
    },
    add(job) {
      const { decision } = job;
      (decision.readOnly ? readers : writers).push(job);
      if (writers.length + readers.length > purgeAt) {
        // The database has not answered for long, or there are many callers.
        writers = writers.filter(isWaiting);
        readers = readers.filter(isWaiting);
        purgeAt = Math.max(MANY_WAITING, 2 * (writers.length + readers.length));
      }
      // Searching the whole queue for each new call would take longer than deciding the calls.
      return Boolean(decision.readOnly) || !busy.has(rowKey(decision.rows[0]!));
    },
    next({ reading, locking }) {
      // Alternate between one batch of readers and one of writers, so that neither waits for long.
      const canRead = readers.length > 0 && !reading;
      const readFirst = canRead && !(readLast && writers.length > 0);
      let batch = readFirst ? takeReaders() : takeWriters(locking);
      if (batch === undefined && canRead) batch = readFirst ? takeWriters(locking) : takeReaders();
      if (batch !== undefined) readLast = batch.way === "read";
      return batch;
    },
    occupy({ rows, way }) {
      if (way !== "read") for (const id of rows.keys()) busy.add(id);
    },
    release({ rows, way }) {
      if (way !== "read") for (const id of rows.keys()) busy.delete(id);
    },
    finish({ jobs, way }, { again, nextWay, conflicts: lost }) {
      const conflicts = lost > 0 ? 1 + mostConflicts(again) : 0;
      if (detours.size > 0) for (const job of jobs) detours.delete(job);
      if (way !== "read") for (const job of again) detours.set(job, { way: nextWay, conflicts });
      return conflicts;
    },
    rejectAll(error) {
      const waiting = [...readers, ...writers];
      readers = [];
      writers = [];
      for (const job of waiting) {
        detours.delete(job);
        job.reject(error);
      }
    },
    putBack({ way }, jobs) {
      if (way === "read") readers = jobs.concat(readers);
      else writers = jobs.concat(writers);
    },
  };
}

/** The rows that a call uses: a plain take only the first one. */
function rowsOf({ decision: { rows } }: Job, way: Way): readonly RowId[] {
  return way === "take" && rows.length > 1 ? rows.slice(0, 1) : rows;
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
