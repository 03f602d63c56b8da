/**
 * The calls that wait for a batch. It chooses which of them go out next, and on which way: a batch
 * takes the oldest calls, and no row that a batch in flight may write.
 */
import { wayOf } from "../plain-path.js";
import type { RowAccess } from "../row-access.js";
import { expiredError, rowKey, type RowId } from "../store.js";
import { type Batch, createBatch, type Job, joinLine, sharesTerms, type Way } from "./batch.js";
import type { BatchOutcome } from "./commit-general.js";
import type { RowHistory } from "./row-history.js";

/** The most rows in one batch. Few enough for two batches to share the rows of many callers. */
const MAX_ROWS = 256;
/** The most calls in one batch. */
export const MAX_CALLS = 1024;
/**
 * The most characters of names and keys in one batch of calls that only read. In UTF-8 they are less
 * than 1 MB, which fits into one packet of MySQL and MariaDB by default.
 */
const MAX_READ_TEXT = 300_000;
/** With more waiting calls than this, the queue is searched for expired ones. */
const MANY_WAITING = 1000;
/**
 * How many calls a batch looks at, from its first one on. Searching a queue of 40,000 calls for each
 * batch took longer than deciding them.
 */
const MAX_SEARCHED = 2 * MAX_CALLS;
/**
 * In a queue that is longer than what a batch looks at, so many of the last calls may take a quarter
 * of the batch. Otherwise every call would wait for all that came before it, and time out.
 */
const NEWEST = MAX_CALLS / 4;

export interface BatchQueue {
  /** The number of waiting calls that may write. */
  readonly writers: number;
  /** The number of all waiting calls. */
  readonly size: number;
  /** @returns false if the call has to wait for the end of a batch that is in flight. */
  add(job: Job): boolean;
  /** The next batch, or `undefined` if no call can go out now. */
  next(inFlight: InFlight): Batch | undefined;
  /** Calls on the rows of a batch in flight wait until they are released. */
  occupy(batch: Batch): void;
  /** The batch waits for locked rows. Calls that wait for it no longer block their other rows. */
  setAside(batch: Batch): void;
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

/** Which batches are in flight. */
export interface InFlight {
  reading: boolean;
  locking: boolean;
  /** Whether another batch may wait for locked rows. */
  mayWait: boolean;
}

/** The state of a call that has to be decided again. */
interface Detour {
  way: Way;
  /** The number of conflicts in a row. */
  conflicts: number;
  /** Whether it could not lock its rows in time. */
  isHeld: boolean;
}

export function createBatchQueue(access: RowAccess, history: RowHistory): BatchQueue {
  let writers: Job[] = [];
  /** Calls that only read. They wait for no row, and go out in as few batches as possible. */
  let readers: Job[] = [];
  let readLast = false;
  const detours = new Map<Job, Detour>();
  const busy = new Set<string>();
  /** Those of the busy rows that belong to a batch that was set aside. */
  const awaited = new Set<string>();
  let purgeAt = MANY_WAITING;

  function takeReaders(): Batch | undefined {
    const batch = createBatch("read");
    let text = 0;
    let index = 0;
    for (; index < readers.length && text < MAX_READ_TEXT; index++) {
      const job = readers[index]!;
      if (!isWaiting(job)) continue;
      for (const row of job.decision.rows) {
        if (!batch.rows.has(rowKey(row))) text += row.name.length + row.key.length;
      }
      addTo(batch, job);
    }
    readers = readers.slice(index);
    return batch.jobs.length > 0 ? batch : undefined;
  }

  /** The only call that waits, while no row is in use: as most calls are. */
  function takeOnly(inFlight: InFlight): Batch | undefined {
    const [job] = writers as [Job];
    const way = wayOfJob(job);
    // Whether it may wait for its lock is a matter of what is in flight.
    if (way === "lock" || job.expired) return takeWriters(inFlight);
    writers = [];
    readLast = false;
    return begin(way, job);
  }

  /** The oldest calls whose rows no batch in flight may write, and a share of the newest ones. */
  function takeWriters({ locking, mayWait }: InFlight): Batch | undefined {
    let batch: Batch | undefined;
    // A waiting call blocks its rows for the calls behind it. Otherwise a call on several rows
    // might never find all of them free at the same time.
    const blocked = writers.length > 1 ? new Set(busy) : busy;
    /** Adds the call to the batch. Returns whether it has to go on waiting. */
    const passOver = (job: Job, share: number): boolean => {
      if (!isWaiting(job)) return false;
      const way = wayOfJob(job);
      const rows = rowsOf(job, way);
      const waits = way === "lock" && mayWait && isHeld(job);
      const mayGo = way !== "lock" || !locking || waits;
      const isFree = mayGo && (blocked.size === 0 || !rows.some((row) => blocked.has(rowKey(row))));
      if (isFree && batch === undefined) {
        batch = begin(way, job);
        batch.waits = waits;
        return false;
      }
      if (isFree && join(batch!, job, way, share * MAX_ROWS)) return false;
      // It waits for a row that another transaction holds, so its other rows are free meanwhile.
      if (awaited.size > 0 && rows.some((row) => awaited.has(rowKey(row)))) return true;
      // Plain takes of one row have no order, so one with other terms does not block its row.
      const isTake = isFree && way === "take" && batch!.way === way;
      if (isTake && !sharesTerms(batch!, job, access.mixesTerms)) return true;
      if (blocked !== busy) for (const row of rows) blocked.add(rowKey(row));
      return true;
    };

    const isLong = writers.length > MAX_SEARCHED;
    const share = isLong ? 3 / 4 : 1;
    let waiting: Job[] = [];
    let index = 0;
    let end = writers.length;
    while (index < end) {
      if (batch !== undefined && batch.jobs.length >= share * MAX_CALLS) break;
      const job = writers[index++]!;
      const wasBegun = batch !== undefined;
      if (passOver(job, share)) waiting.push(job);
      // A queue of calls that cannot go out is searched to its end.
      if (!wasBegun && batch !== undefined) end = Math.min(end, index + MAX_SEARCHED);
    }
    waiting = waiting.concat(writers.slice(index));
    if (isLong && batch !== undefined) takeNewest(batch, waiting, passOver);
    writers = waiting;
    return batch;
  }

  /** Takes calls from the end of the list, the newest one first. */
  function takeNewest(
    batch: Batch,
    waiting: Job[],
    passOver: (job: Job, share: number) => boolean,
  ): void {
    const passedOver: Job[] = [];
    for (let i = 0; i < NEWEST && waiting.length > 0 && batch.jobs.length < MAX_CALLS; i++) {
      const job = waiting.pop()!;
      if (passOver(job, 1)) passedOver.push(job);
    }
    waiting.push(...passedOver.reverse());
  }

  const isHeld = (job: Job) => detours.get(job)?.isHeld ?? false;

  function wayOfJob(job: Job): Way {
    const detour = detours.size > 0 ? detours.get(job) : undefined;
    return wayOf(
      job.decision,
      access.serializable,
      access.take !== undefined,
      detour?.way,
      isSpent,
    );
  }

  const isSpent = (row: RowId, clock: () => number) =>
    history.isSpent(rowKey(row), () => timeOf(clock) ?? NaN);

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
      detours.set(job, { way: "decide", conflicts: 0, isHeld: false });
      return begin("decide", job);
    }
    const batch = createBatch("take", plain.clock, now);
    joinLine(batch, job, plain, access.mixesTerms);
    return batch;
  }

  function join(batch: Batch, job: Job, way: Way, maxRows: number): boolean {
    const { plain } = job.decision;
    const isInBatch = (row: RowId) => batch.rows.has(rowKey(row));
    if (batch.way !== way) {
      // Mixed calls on one row share a batch. Otherwise each change of the way would be a batch of
      // its own (two calls per batch, where 16 callers take, refund and call `limitAll` on one row).
      const fits = batch.way === "lock" || (batch.way === "decide" && way === "take");
      if (!fits || !job.decision.rows.every(isInBatch)) return false;
      addTo(batch, job);
      return true;
    }
    const rows = rowsOf(job, way);
    // Calls with locks share a batch only if they share rows: they would have to wait for each
    // other. Other rows are not locked longer than needed.
    const mayAdd = way !== "lock" || access.serializable || rows.some(isInBatch);
    if (!(mayAdd && batch.rows.size < maxRows) && !rows.every(isInBatch)) return false;
    if (way === "take") return joinLine(batch, job, plain!, access.mixesTerms);
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
    next(inFlight) {
      if (writers.length === 1 && readers.length === 0 && busy.size === 0) {
        return takeOnly(inFlight);
      }
      // Alternate between one batch of readers and one of writers, so that neither waits for long.
      const canRead = readers.length > 0 && !inFlight.reading;
      const readFirst = canRead && !(readLast && writers.length > 0);
      let batch = readFirst ? takeReaders() : takeWriters(inFlight);
      if (batch === undefined && canRead) batch = readFirst ? takeWriters(inFlight) : takeReaders();
      if (batch !== undefined) readLast = batch.way === "read";
      return batch;
    },
    occupy({ rows, way }) {
      if (way !== "read") for (const id of rows.keys()) busy.add(id);
    },
    setAside({ rows }) {
      for (const id of rows.keys()) awaited.add(id);
    },
    release({ rows, way }) {
      if (way !== "read") for (const id of rows.keys()) busy.delete(id);
      if (awaited.size > 0) for (const id of rows.keys()) awaited.delete(id);
    },
    finish({ jobs, way }, { again, nextWay, conflicts: lost }) {
      const conflicts = lost > 0 ? 1 + mostConflicts(again) : 0;
      if (detours.size > 0) for (const job of jobs) detours.delete(job);
      const detour = { way: nextWay, conflicts, isHeld: way === "lock" && nextWay === "lock" };
      if (way !== "read") for (const job of again) detours.set(job, detour);
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
