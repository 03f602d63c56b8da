/**
 * Puts the next batch together from the calls that wait. The batch gets the oldest calls whose rows no
 * batch in flight may write, and from a long queue also a share of the newest calls.
 */
import { expiredError, rowKey, type RowId } from "../store.js";
import type { Batch, Job, Way } from "./batch.js";
import type { Flights } from "./flights.js";
import type { PlainBatch } from "./ways/plain.js";
import type { Ways } from "./ways/ways.js";

/** The most rows in one batch. Few enough for two batches to share the rows of many callers. */
const MAX_ROWS = 256;
/** The most calls in one batch. */
export const MAX_CALLS = 1024;
/**
 * How many calls a batch looks at, from its first one on. Searching a queue of 40,000 calls for each
 * batch took longer than deciding them.
 */
const MAX_SEARCHED = 2 * MAX_CALLS;
/**
 * In a queue that is longer than `MAX_SEARCHED`, a batch looks at so many of the newest calls, too, and
 * keeps a quarter of its room for them. Otherwise every call would wait for all calls before it, and
 * time out.
 */
const NEWEST = MAX_CALLS / 4;

/** @returns the batch, if a call can go out now, and the calls that go on waiting. */
export function nextWriters(
  ways: Ways,
  flights: Flights,
  writers: readonly Job[],
): { batch: Batch | undefined; waiting: Job[] } {
  const search = new Search(ways, flights, writers.length > 1);
  const isLong = writers.length > MAX_SEARCHED;
  const share = isLong ? 3 / 4 : 1;
  const waiting: Job[] = [];
  let index = 0;
  let end = writers.length;
  while (index < end) {
    const { batch } = search;
    if (batch !== undefined && batch.jobs.length >= share * MAX_CALLS) break;
    const job = writers[index++]!;
    if (search.passesOver(job, share * MAX_ROWS)) waiting.push(job);
    // As long as no call can go out, the queue is searched to its end.
    if (batch === undefined && search.batch !== undefined) {
      end = Math.min(end, index + MAX_SEARCHED);
    }
  }
  const rest = waiting.concat(writers.slice(index));
  if (isLong && search.batch !== undefined) takeNewest(search, search.batch, rest);
  return { batch: search.batch, waiting: rest };
}

/** Takes calls from the end of the list, the newest one first. */
function takeNewest(search: Search, batch: Batch, waiting: Job[]): void {
  const passedOver: Job[] = [];
  for (let i = 0; i < NEWEST && waiting.length > 0 && batch.jobs.length < MAX_CALLS; i++) {
    const job = waiting.pop()!;
    if (search.passesOver(job, MAX_ROWS)) passedOver.push(job);
  }
  waiting.push(...passedOver.reverse());
}

/** Calls that only read go out in as few batches as possible. */
export function nextReaders(
  ways: Ways,
  readers: readonly Job[],
): { batch: Batch | undefined; waiting: Job[] } {
  let batch: Batch | undefined;
  let index = 0;
  for (; index < readers.length; index++) {
    const job = readers[index]!;
    if (!isWaiting(ways, job)) continue;
    if (batch === undefined) batch = ways.begin(ways.read, job);
    else if (!batch.way.join(batch, job, ways.read, Infinity)) break;
  }
  return { batch, waiting: readers.slice(index) };
}

/** A call that has timed out must not consume tokens. */
export function isWaiting(ways: Ways, job: Job): boolean {
  if (!job.expired) return true;
  ways.forget(job);
  job.reject(expiredError());
  return false;
}

class Search {
  batch: Batch | undefined;
  /**
   * A waiting call blocks its rows for the calls behind it. Otherwise a call on several rows might never
   * find all of them free at the same time.
   */
  readonly #blocked: ReadonlySet<string>;
  /** The same set, to add rows to; `undefined` if no call can be behind. */
  readonly #own: Set<string> | undefined;

  constructor(
    private readonly ways: Ways,
    private readonly flights: Flights,
    hasSeveral: boolean,
  ) {
    this.#own = hasSeveral ? new Set(flights.busy) : undefined;
    this.#blocked = this.#own ?? flights.busy;
  }

  /**
   * Adds the call to the batch, if the call can go out with the batch. Returns whether the call has to
   * go on waiting.
   */
  passesOver(job: Job, maxRows: number): boolean {
    const { ways, flights } = this;
    if (!isWaiting(ways, job)) return false;
    const way = ways.of(job);
    const rows = rowsOf(job, way === ways.take);
    const waits = way === ways.lock && flights.mayWait && ways.isHeld(job);
    const mayGo = way !== ways.lock || waits || !flights.isLocking;
    const isFree = mayGo && !isAmong(this.#blocked, rows);
    if (isFree && this.batch === undefined) {
      this.batch = ways.begin(way, job);
      this.batch.waits = waits;
      return false;
    }
    if (isFree && this.batch!.way.join(this.batch!, job, way, maxRows)) return false;
    // The call waits for a row that another transaction holds, so its other rows are free meanwhile.
    if (isAmong(flights.awaited, rows)) return true;
    if (this.#own === undefined || (isFree && this.#hasOtherTerms(job, way))) return true;
    for (const row of rows) this.#own.add(rowKey(row));
    return true;
  }

  /** Plain takes of one row have no order, so a take with other terms does not block its row. */
  #hasOtherTerms(job: Job, way: Way): boolean {
    const { take } = this.ways;
    if (way !== take || this.batch!.way !== take) return false;
    return !take.sharesTerms(this.batch as PlainBatch, job);
  }
}

/** The rows that a call uses: a plain take only the first one. */
function rowsOf({ decision: { rows } }: Job, isTake: boolean): readonly RowId[] {
  return isTake && rows.length > 1 ? rows.slice(0, 1) : rows;
}

function isAmong(ids: ReadonlySet<string>, rows: readonly RowId[]): boolean {
  return ids.size > 0 && rows.some((row) => ids.has(rowKey(row)));
}
