/** A batch: the calls that go to the database together, and how they are carried out. */
import { capacityOf } from "../../../core/config.js";
import type { BatchEvent } from "../batch-event.js";
import type { TakeTerms } from "../row-access.js";
import { type PlainTake, rowKey, type RowId, type Submission } from "../store.js";
import { isSameTerms } from "../take-terms.js";

/** A call that waits for its answer, of any type. */
export type Job = Submission<unknown>;

/** How a batch is carried out. `take` is the plain path. */
export type Way = BatchEvent["way"];

/** The calls of one batch on one row. Their tokens are taken together or not at all. */
export interface Line {
  row: RowId;
  /** Their config has the `start` of this row. */
  terms: TakeTerms;
  jobs: Job[];
  /** The sum of their counts. */
  total: number;
}

export interface Batch {
  readonly way: Way;
  /** Whether it is expected to wait for rows that another transaction holds. */
  waits: boolean;
  readonly jobs: Job[];
  /** The rows of the calls, by `rowKey`. */
  readonly rows: Map<string, RowId>;
  /** On the plain path only, by `rowKey`. */
  readonly lines: Map<string, Line>;
  /** On the plain path only: the clock of all its calls, and its time, epoch ms. */
  readonly clock: (() => number) | undefined;
  readonly now: number;
}

export function createBatch(way: Way, clock?: () => number, now: number = NaN): Batch {
  return { way, waits: false, jobs: [], rows: new Map(), lines: new Map(), clock, now };
}

/**
 * Whether a plain take can go out with the calls of the batch. Calls on one row have to share their
 * terms.
 *
 * @param mixesTerms see `RowAccess`.
 */
export function sharesTerms(batch: Batch, { decision }: Job, mixesTerms: boolean): boolean {
  const { plain, rows } = decision;
  if (plain === undefined || batch.clock !== plain.clock) return false;
  const line = batch.lines.get(rowKey(rows[0]!)) ?? (mixesTerms ? undefined : firstOf(batch));
  return line === undefined || isSameTerms(line.terms, plain);
}

/**
 * Adds a plain take to the line of its row. Returns false for a call with other terms, and for one
 * that would make the line larger than a full bucket, because the whole line would then be denied.
 */
export function joinLine(batch: Batch, job: Job, plain: PlainTake<unknown>, mixesTerms: boolean) {
  const { lines, rows, jobs, clock } = batch;
  if (clock !== plain.clock) return false;
  const row = job.decision.rows[0]!;
  const id = rowKey(row);
  const { config, count, floor } = plain;
  const line = lines.get(id);
  const like = line ?? (mixesTerms ? undefined : firstOf(batch));
  if (like !== undefined && !isSameTerms(like.terms, plain)) return false;
  if (line === undefined) {
    lines.set(id, { row, terms: plain, jobs: [job], total: count });
    rows.set(id, row);
  } else {
    if (capacityOf(config) - (line.total + count) < floor) return false;
    line.jobs.push(job);
    line.total += count;
  }
  jobs.push(job);
  return true;
}

function firstOf({ lines }: Batch): Line | undefined {
  for (const line of lines.values()) return line;
  return undefined;
}
