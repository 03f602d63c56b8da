/**
 * The take of a call that is alone: no other call waits, and no row is in use. Most calls are alone, so
 * this path is kept short. One object is the batch, its line and its outcome.
 */
import type { Row } from "../../../../core/rows/row.js";
import { takeFromFull } from "../../../../core/decide.js";
import type { RowAccess, TakeLine, TakeOptions } from "../../row-access.js";
import { type PlainTake, rowKey, type RowId } from "../../store.js";
import type { Batch, Job, Outcome, Place, Way } from "../batch.js";
import type { SpentRows } from "../spent-rows.js";
import { outcomeOfError } from "./outcome-of-error.js";
import { noteTokens, timeOf } from "./plain.js";

const NONE: readonly Job[] = [];

export class LoneTake implements Batch, TakeLine, TakeOptions, Outcome {
  readonly jobs: Job[];
  readonly ids: string[];
  readonly waits = false;
  place: Place = "queued";
  startedAt = NaN;

  readonly row: RowId;
  readonly total: number;
  readonly fresh: Row;
  mayWait = true;
  readonly isWanted = (): boolean => !this.job.expired;

  next: Row | undefined;
  /** The call that has to be decided, because it was not granted. */
  again: readonly Job[] = NONE;
  readonly nextWay = "decide";
  readonly conflicts = 0;
  readonly failed = false;

  /** @param now the time of the call's clock, epoch ms. */
  constructor(
    readonly way: Way,
    private readonly job: Job,
    readonly terms: PlainTake<unknown>,
    readonly now: number,
  ) {
    const row = job.decision.rows[0]!;
    this.jobs = [job];
    this.ids = [row.id ?? rowKey(row)];
    this.row = row;
    this.total = terms.count;
    this.fresh = takeFromFull(terms.config, now, terms.count, terms.least);
  }

  answer(): void {
    if (this.next !== undefined) this.job.resolve(this.terms.granted(this.next, 0, this.now));
  }
}

export class AloneWay implements Way {
  readonly name = "take";

  constructor(
    private readonly access: RowAccess,
    private readonly spent: SpentRows,
  ) {}

  begin(job: Job, plain = job.decision.plain!): LoneTake | undefined {
    const now = timeOf(plain.clock);
    // A clock that tells no time is left to `decide`, see `PlainWay.begin`.
    return now === undefined ? undefined : new LoneTake(this, job, plain, now);
  }

  join(): boolean {
    return false;
  }

  async carryOut(take: LoneTake, isHurried: boolean): Promise<Outcome> {
    take.mayWait = !isHurried;
    try {
      take.next = await this.access.takeOne!(take, take);
    } catch (error) {
      return outcomeOfError(take, this.access, error, "decide");
    }
    if (take.next === undefined) take.again = take.jobs;
    noteTokens(this.spent, take.ids[0]!, take.terms, take.next, take.now);
    return take;
  }
}
