/**
 * The ways on which calls are decided in this process. Calls that only read go together, whatever their
 * rows. Other calls write with guards, and lock their rows first if a guard has failed.
 */
import type { RowAccess, RowStatements } from "../../row-access.js";
import { GeneralBatch, type Job, type Outcome, type Way, type WayName } from "../batch.js";
import type { SpentRows } from "../spent-rows.js";
import { attempt, type Attempt } from "./attempt.js";
import { outcomeOfError } from "./outcome-of-error.js";

/**
 * The most characters of names and keys in one batch of calls that only read. In UTF-8, so many
 * characters are less than 1 MB, which fits into one packet of MySQL and MariaDB by default.
 */
const MAX_READ_TEXT = 300_000;

abstract class GeneralWay implements Way {
  abstract readonly name: WayName;

  constructor(
    protected readonly access: RowAccess,
    protected readonly spent: SpentRows,
  ) {}

  begin(job: Job): GeneralBatch {
    const batch = new GeneralBatch(this);
    batch.add(job);
    return batch;
  }

  join(batch: GeneralBatch, job: Job, way: Way, maxRows: number): boolean {
    if (!this.admits(batch, job, way, maxRows)) return false;
    batch.add(job);
    return true;
  }

  async carryOut(batch: GeneralBatch, isHurried: boolean): Promise<Outcome> {
    const { jobs } = batch;
    let made: Attempt;
    try {
      made = await this.attempt(batch, isHurried);
    } catch (error) {
      return outcomeOfError(batch, this.access, error, this.wayAfterError());
    }
    const { undecided, settled, conflicts, failed, unsent, written } = made;
    for (const id of written) this.spent.delete(id);
    return {
      again: undecided.size === 0 ? [] : jobs.filter((_, index) => undecided.has(index)),
      nextWay: unsent && conflicts === 0 ? this.name : this.wayAfter(made),
      conflicts,
      failed,
      answer() {
        for (let index = 0; index < jobs.length; index++) {
          if (undecided.has(index)) continue;
          const outcome = settled[index]!;
          if (outcome.ok) jobs[index]!.resolve(outcome.result);
          else jobs[index]!.reject(outcome.error);
        }
      },
    };
  }

  protected abstract admits(batch: GeneralBatch, job: Job, way: Way, maxRows: number): boolean;

  protected attempt(batch: GeneralBatch, _isHurried: boolean): Promise<Attempt> {
    return attempt(batch, this.access, this.access, false);
  }

  /** The way of calls that lost. */
  protected abstract wayAfter(made: Attempt): WayName;

  /** The way after a statement that met a conflict as a whole. */
  protected wayAfterError(): WayName {
    return wayAfterLoss(this.access);
  }
}

/**
 * After a conflict of a guarded write, lock the rows if possible: the next guard would fail too. A row
 * that another call has inserted was only missing, and the plain path may find the row now. Measured
 * and rejected: locking such rows, which are many after a burst of calls on new keys, one by one.
 */
function wayAfterLoss({ locked }: RowAccess, lostNewRows = false): WayName {
  if (lostNewRows) return "take";
  return locked === undefined ? "decide" : "lock";
}

/** Calls that only read. Such calls wait for no row, and go out in as few batches as possible. */
export class ReadWay extends GeneralWay {
  override readonly name = "read";

  protected override admits(batch: GeneralBatch): boolean {
    return batch.textLength < MAX_READ_TEXT;
  }

  protected override wayAfter(): WayName {
    return "read";
  }

  protected override wayAfterError(): WayName {
    return "read";
  }
}

/** A read, and a write that takes effect only if the rows are as they were read. */
export class GuardedWay extends GeneralWay {
  override readonly name = "decide";

  /**
   * Mixed calls on one row share a batch. Otherwise each change of the way would begin another batch
   * (two calls per batch, where 16 callers take, refund and call `limitAll` on one row).
   */
  protected override admits(batch: GeneralBatch, job: Job, way: Way, maxRows: number): boolean {
    if (way === this && batch.ids.length < maxRows) return true;
    return (way === this || way.name === "take") && batch.has("every", job);
  }

  protected override wayAfter({ lostNewRows }: Attempt): WayName {
    return wayAfterLoss(this.access, lostNewRows);
  }
}

/**
 * A read and a guarded write in a transaction that locks the rows first, or in a Serializable
 * transaction.
 */
export class LockedWay extends GeneralWay {
  override readonly name = "lock";

  /**
   * Calls with locks share a batch only if they share rows: in two batches, such calls would have to
   * wait for each other. Calls on other rows stay apart, so that no row is locked longer than needed.
   */
  protected override admits(batch: GeneralBatch, job: Job, way: Way, maxRows: number): boolean {
    if (way === this && batch.ids.length < maxRows) {
      if (this.access.serializable || batch.has("some", job)) return true;
    }
    return batch.has("every", job);
  }

  protected override attempt(batch: GeneralBatch, isHurried: boolean): Promise<Attempt> {
    const { access } = this;
    const run = (statements: RowStatements) => attempt(batch, statements, access, true);
    return access.locked === undefined ? run(access) : access.locked(run, isHurried);
  }

  /** A row that does not exist cannot be locked, so its calls are read in one snapshot instead. */
  protected override wayAfter(): WayName {
    return this.access.serializable ? "lock" : "decide";
  }
}
