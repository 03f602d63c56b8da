/** A batch: the calls that go to the database together, the rows that they use, and the way they go. */
import type { BatchEvent } from "../batch-event.js";
import { rowKey, type RowId, type Submission } from "../store.js";

/** A call that waits for its answer, of any type. */
export type Job = Submission<unknown>;

/** Where a batch is, see `flights.ts`. */
export type Place = "queued" | "in flight" | "aside" | "stalled" | "given up" | "answered";

export type WayName = BatchEvent["way"];

/**
 * How the calls of a batch are carried out. Each way says which calls share a batch, and how a batch is
 * sent.
 */
export interface Way {
  readonly name: WayName;
  /** A batch with this call. `undefined` if the call cannot go this way after all. */
  begin(job: Job): Batch | undefined;
  /**
   * Adds a call to a batch of this way, if the batch can carry it.
   *
   * @param way on which the call would go by itself.
   * @param maxRows the most rows of the batch, for a call on rows that are not in the batch yet.
   */
  join(batch: Batch, job: Job, way: Way, maxRows: number): boolean;
  /**
   * Sends the batch. Never rejects.
   *
   * @param isHurried whether other batches wait for the end of this batch, so that it should wait less
   * for locked rows.
   */
  carryOut(batch: Batch, isHurried: boolean): Promise<Outcome>;
}

/** The outcome of a batch. */
export interface Outcome {
  /** Calls that must be decided again. */
  readonly again: readonly Job[];
  /** The way on which the calls in `again` are decided again. */
  readonly nextWay: WayName;
  /** How many of the calls in `again` met a conflict with another transaction. */
  readonly conflicts: number;
  /** Whether the database failed, so that calls are rejected. */
  readonly failed: boolean;
  /** Settles the calls that are not in `again`. */
  answer(): void;
}

export class Batch {
  /** Whether the batch is expected to wait for rows that another transaction holds. */
  waits = false;
  place: Place = "queued";
  /** When the batch was dispatched, by the monotonic clock. */
  startedAt = NaN;

  /** @param ids the rows of the calls, each once, as `rowKey`s. */
  constructor(
    readonly way: Way,
    readonly jobs: Job[] = [],
    readonly ids: string[] = [],
  ) {}
}

/** A batch of any way but the plain one. */
export class GeneralBatch extends Batch {
  /** By `rowKey`. */
  readonly rows = new Map<string, RowId>();
  /** The number of characters in the names and keys of `rows`. */
  textLength = 0;

  add(job: Job): void {
    this.jobs.push(job);
    for (const row of job.decision.rows) {
      const id = rowKey(row);
      if (!this.rows.has(id)) {
        this.ids.push(id);
        this.textLength += row.name.length + row.key.length;
      }
      this.rows.set(id, row);
    }
  }

  /** Whether the batch has some of the rows of a call, or all of them. */
  has(some: "some" | "every", { decision: { rows } }: Job): boolean {
    return rows[some]((row) => this.rows.has(rowKey(row)));
  }
}
