/** A batch: the calls that go to the database together, and the rows that they use. */
import { rowKey, type RowId, type Submission } from "../store.js";
import type { Place } from "./flights.js";
import type { Way } from "./ways/way.js";

/** A call that waits for its answer, of any type. */
export type Job = Submission<unknown>;

export class Batch {
  readonly jobs: Job[] = [];
  /** The rows of the calls, each once, as `rowKey`s. */
  readonly ids: string[] = [];
  /** Whether it is expected to wait for rows that another transaction holds. */
  waits = false;
  /** Where it is, and since when it is in flight, by the monotonic clock. */
  place: Place = "queued";
  startedAt = NaN;

  constructor(readonly way: Way) {}
}

/** A batch of any way but the plain one. */
export class GeneralBatch extends Batch {
  /** By `rowKey`. */
  readonly rows = new Map<string, RowId>();
  /** The characters of their names and keys. */
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

  /** Whether it has some of the rows of a call, or all of them. */
  has(some: "some" | "every", { decision: { rows } }: Job): boolean {
    return rows[some]((row) => this.rows.has(rowKey(row)));
  }
}
