/**
 * Group commit: calls that wait while a round trip is under way go out together in the next one,
 * one read and one guarded write for all of them, whatever the number of keys. The longer the
 * database takes, the more each trip carries, so throughput grows with contention.
 *
 * Tried on PostgreSQL, and lost: a pause for each call that lost a race, which scattered them over
 * many trips (half the throughput with three processes on one row); trying again at once with
 * what the lost write was told, and no more, which let one process win for a second on end; one
 * trip at a time for many rows, and four; setting out for the next trip before those just answered
 * had called again, with little to carry (half the throughput with three processes on many rows).
 */
import { type Batch, commitBatch, type Job } from "./batch.js";
import { createRaces } from "./races.js";
import type { RowIO } from "./row-io.js";
import { createStateCache } from "./state-cache.js";
import {
  type Call,
  type Decision,
  expiredError,
  type RateLimitStore,
  rowKey,
  type RowId,
} from "./store.js";

/** Rows of which the last written state is remembered; some 100 bytes each. */
const REMEMBERED = 20_000;
/** The most rows in one trip: few enough for two trips to share what many callers want. */
const MAX_ROWS = 256;
/**
 * The most calls in one trip, where that is not more than this process can prepare in the time of
 * the quickest trip: with more waiting, half of them are prepared while the others are under way.
 */
const MAX_CALLS = 512;
/** About how many calls are prepared and answered in a ms. */
const CALLS_PER_MS = 900;
/** A trip that takes longer than this, ms, no longer keeps others from setting out. */
const STUCK_AFTER = 5000;
/** So many of them at most, because each keeps a connection. */
const MAX_STUCK = 2;
/** Past so many waiting calls, those that have expired are looked for. */
const MANY_WAITING = 1000;

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createLane(io: RowIO, random: () => number = Math.random): RateLimitStore {
  const cache = createStateCache(REMEMBERED);
  const races = createRaces(io.locked !== undefined && !io.serializable, random);
  let queue: Job[] = [];
  /** Those that only read; they wait for nobody's rows, and go out together, however many. */
  let readers: Job[] = [];
  let readLast = false;
  /** Rows that a trip under way may write, or that rest; calls on them wait for the next one. */
  const busy = new Set<string>();
  /** When each trip under way set out, by a clock of its own. */
  const underWay = new Map<Batch, number>();
  const stuck = new Set<Batch>();
  /** What a trip takes at least, ms; follows slowly when trips become slower. */
  let quickest = Infinity;
  let starting = false;
  let purgeAt = MANY_WAITING;

  /** A tick later, so that calls made in the same tick share the first trip too. */
  function start(when: (run: () => void) => unknown = queueMicrotask): void {
    if (starting || queue.length + readers.length === 0) return;
    starting = true;
    when(() => {
      starting = false;
      setOut();
    });
  }

  function setOut(): void {
    leaveStuckBehind();
    while (underWay.size < io.maxTrips) {
      // One trip of readers at a time, and then a trip of writers if there are any, so that neither
      // keep the others from setting out.
      const isReading = Array.from(underWay.keys()).some(({ readOnly }) => readOnly);
      const canRead = !isReading && readers.length > 0;
      const readFirst = canRead && !(readLast && queue.length > 0);
      let batch = readFirst ? takeReaders() : takeBatch();
      if (batch.jobs.length === 0 && canRead) batch = readFirst ? takeBatch() : takeReaders();
      if (batch.jobs.length === 0) return;
      readLast = batch.readOnly;
      void travel(batch);
    }
  }

  function takeReaders(): Batch {
    const jobs = readers.filter(isWaiting);
    readers = [];
    const rows = new Map<string, RowId>();
    for (const { decision } of jobs) for (const row of decision.rows) rows.set(rowKey(row), row);
    return { jobs, rows, readOnly: true, locking: false };
  }

  async function travel(batch: Batch): Promise<void> {
    const startedAt = performance.now();
    underWay.set(batch, startedAt);
    if (!batch.readOnly) for (const id of batch.rows.keys()) busy.add(id);
    // Calls on its rows do not set out, so none of them would find out that it is stuck.
    const watch = setTimeout(setOut, STUCK_AFTER + 1);
    const { again, lost, answer } = await commitBatch(batch, io, cache, races.isContested);
    clearTimeout(watch);
    quickest = Math.min(quickest * 1.01, performance.now() - startedAt);
    // Ahead of whoever came later.
    if (again.length > 0) {
      if (batch.readOnly) readers = again.concat(readers);
      else queue = again.concat(queue);
    }
    if (!stuck.delete(batch)) {
      underWay.delete(batch);
      if (!batch.readOnly) release(batch, lost);
    }
    // The next trip is on its way while these are answered, if there is enough for it to carry.
    // Else it waits for them: who was just answered may call again, and should not miss it.
    if (queue.length >= MAX_CALLS / 2) setOut();
    answer();
    start(afterAnswers);
  }

  function release({ rows }: Batch, lost: ReadonlySet<string>): void {
    const { resting, pause } = races.note(rows.keys(), lost);
    for (const id of rows.keys()) if (!resting.has(id)) busy.delete(id);
    if (resting.size === 0) return;
    setTimeout(() => {
      for (const id of resting) busy.delete(id);
      start();
    }, pause);
  }

  /**
   * A connection that went silent must not hold up calls that others could carry. What the trip
   * writes in the end is guarded like all else.
   */
  function leaveStuckBehind(): void {
    const now = performance.now();
    for (const [batch, startedAt] of underWay) {
      if (now - startedAt < STUCK_AFTER || stuck.size === MAX_STUCK) return;
      underWay.delete(batch);
      stuck.add(batch);
      if (!batch.readOnly) for (const id of batch.rows.keys()) busy.delete(id);
    }
  }

  /** The calls that have waited longest, of those whose rows no trip is writing. */
  function takeBatch(): Batch {
    const jobs: Job[] = [];
    const rows = new Map<string, RowId>();
    let waiting: Job[] = [];
    // Who has to wait is not overtaken on any of its rows, or several rows would never be free.
    const blocked = new Set(busy);
    let alone = false;
    const maxCalls = Math.max(MAX_CALLS, Math.round(quickest * CALLS_PER_MS) || 0);
    for (let index = 0; index < queue.length; index++) {
      if (jobs.length >= maxCalls) {
        waiting = waiting.concat(queue.slice(index));
        break;
      }
      const job = queue[index]!;
      const { rows: wanted } = job.decision;
      if (!isWaiting(job)) continue;
      let [isBlocked, adds, locks] = [false, false, false];
      for (const row of wanted) {
        const id = rowKey(row);
        isBlocked ||= blocked.has(id);
        if (rows.has(id)) continue;
        adds = true;
        locks ||= races.mustLock(id);
      }
      // Rows are not kept locked for the sake of others.
      const isFull = jobs.length > 0 && (alone || locks || rows.size >= MAX_ROWS);
      if (isBlocked || (adds && isFull)) {
        waiting.push(job);
        for (const row of wanted) blocked.add(rowKey(row));
      } else {
        jobs.push(job);
        if (adds) for (const row of wanted) rows.set(rowKey(row), row);
        alone ||= locks;
      }
    }
    queue = waiting;
    return { jobs, rows, readOnly: false, locking: alone || (io.serializable ?? false) };
  }

  /** Whose caller has been told that the store failed must not consume any more. */
  function isWaiting(job: Job): boolean {
    if (!job.expired) return true;
    for (const row of job.decision.rows) races.forget(rowKey(row));
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
    // Most of those that wait in their hundreds want a row that is busy, and whose release they
    // follow; to look through all of them for each one more would take longer than to decide them.
    const mustWait = !decision.readOnly && busy.has(rowKey(decision.rows[0]!));
    if (!mustWait) start();
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

/** Once all that follows from answers given now has run. Taken early, before a test fakes timers. */
const afterAnswers: (run: () => void) => unknown = globalThis.setImmediate ?? queueMicrotask;
