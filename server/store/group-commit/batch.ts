/** A batch: the calls that go to the database together, and how they are carried out. */
import { capacityOf, type RateLimitConfig } from "../../../core/config.js";
import type { BatchEvent } from "../batch-event.js";
import type { TakeTerms } from "../row-access.js";
import { type PlainTake, rowKey, type RowId, type Submission } from "../store.js";

/** A call that waits for its answer, of any type. */
export type Job = Submission<unknown>;

/** How a batch is carried out. `take` is the plain path. */
export type Way = BatchEvent["way"];

/** The calls of one batch on one row. Their tokens are taken together or not at all. */
export interface Line {
  row: RowId;
  /** The config of this row, with its own `start`. */
  config: RateLimitConfig;
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
  /** On the plain path only: the parameters that all lines share. */
  readonly terms: TakeTerms | undefined;
  readonly clock: (() => number) | undefined;
}

export function createBatch(way: Way, plain?: PlainTake<unknown>, now: number = NaN): Batch {
  const terms = plain && { config: plain.config, floor: plain.floor, now };
  const waits = false;
  return { way, waits, jobs: [], rows: new Map(), lines: new Map(), terms, clock: plain?.clock };
}

/** Whether a plain take can share a statement with the calls of the batch. */
export function sharesTerms({ terms, clock }: Batch, { decision: { plain } }: Job): boolean {
  if (terms === undefined || plain === undefined) return false;
  if (clock !== plain.clock || terms.floor !== plain.floor) return false;
  const [a, b] = [terms.config, plain.config];
  return (
    a === b ||
    (a.kind === b.kind &&
      a.rate === b.rate &&
      a.period === b.period &&
      capacityOf(a) === capacityOf(b))
  );
}

/**
 * Adds a call to the line of its row. Returns false for a call that would make the line larger than
 * a full bucket, because the whole line would then be denied.
 */
export function joinLine({ lines, rows, jobs }: Batch, job: Job, plain: PlainTake<unknown>) {
  const row = job.decision.rows[0]!;
  const id = rowKey(row);
  const { config, count, floor } = plain;
  const line = lines.get(id);
  if (line === undefined) {
    lines.set(id, { row, config, jobs: [job], total: count });
    rows.set(id, row);
  } else {
    if (capacityOf(config) - (line.total + count) < floor) return false;
    line.jobs.push(job);
    line.total += count;
  }
  jobs.push(job);
  return true;
}
