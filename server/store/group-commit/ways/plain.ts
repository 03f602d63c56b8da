/**
 * The plain path: one statement takes the tokens of many calls on many rows. The statement decides
 * while it holds the lock of each row, so it needs no guard and no retry.
 *
 * The calls of one row form a line that is taken whole or not at all. A line that was not taken
 * goes the general way: each of its calls runs its own `decide`, and some of them may still be
 * granted.
 */
import { waitFor } from "../../../../core/rows/reading.js";
import { mostUsed } from "../../../../core/config.js";
import { takeFromFull } from "../../../../core/decide.js";
import { levelIn } from "../../../../core/rows/bucket.js";
import type { Row } from "../../../../core/rows/row.js";
import type { RowAccess, TakeTerms } from "../../row-access.js";
import { type PlainTake, rowKey, type RowId } from "../../store.js";
import { fitsFull, isSameTerms } from "../../take-terms.js";
import { Batch, type Job, type Outcome, type Way } from "../batch.js";
import type { SpentRows } from "../spent-rows.js";
import { outcomeOfError } from "./outcome-of-error.js";

/** The calls of one batch on one row. The tokens of these calls are taken together or not at all. */
class Line {
  readonly jobs: Job[] = [];
  readonly takes: PlainTake<unknown>[] = [];
  /** The sum of the counts of `takes`. */
  total = 0;

  /** @param terms of all calls. The config of the terms has the `start` of this row. */
  constructor(
    readonly row: RowId,
    readonly id: string,
    readonly terms: TakeTerms,
  ) {}

  add(job: Job, take: PlainTake<unknown>): void {
    this.jobs.push(job);
    this.takes.push(take);
    this.total += take.count;
  }
}

export class PlainBatch extends Batch {
  readonly lines: Line[] = [];
  /** The lines by `rowKey`, if there are several. */
  #byId: Map<string, Line> | undefined;

  /**
   * @param clock of all calls.
   * @param now the time of the clock, epoch ms.
   */
  constructor(
    way: Way,
    readonly clock: () => number,
    readonly now: number,
  ) {
    super(way);
  }

  /** The line of a row, if there is one. */
  lineOf(id: string): Line | undefined {
    const { lines } = this;
    if (lines.length < 2) return lines[0]?.id === id ? lines[0] : undefined;
    this.#byId ??= new Map(lines.map((line) => [line.id, line]));
    return this.#byId.get(id);
  }

  /** Begins the line of a row. */
  addLine(row: RowId, id: string, terms: TakeTerms): Line {
    const line = new Line(row, id, terms);
    this.lines.push(line);
    this.ids.push(id);
    this.#byId?.set(id, line);
    return line;
  }
}

export class PlainWay implements Way {
  readonly name = "take";

  constructor(
    private readonly access: RowAccess,
    private readonly spent: SpentRows,
  ) {}

  begin(job: Job): PlainBatch | undefined {
    const { plain, rows } = job.decision;
    const now = timeOf(plain!.clock);
    // Databases and JavaScript treat NaN differently, and a clock may throw. Leave both to `decide`.
    if (now === undefined) return undefined;
    const batch = new PlainBatch(this, plain!.clock, now);
    const row = rows[0]!;
    const line = batch.addLine(row, rowKey(row), plain!);
    line.add(job, plain!);
    batch.jobs.push(job);
    return batch;
  }

  /**
   * Refuses a call whose terms differ from those of its row, or from those of the batch if the
   * statement does not mix terms. Also refuses a call that would make the line larger than a full
   * bucket, because the whole line would then be denied.
   */
  join(batch: PlainBatch, job: Job, way: Way, maxRows: number): boolean {
    if (way !== this) return false;
    const { plain, rows } = job.decision;
    const row = rows[0]!;
    const id = rowKey(row);
    let line = batch.lineOf(id);
    if (line === undefined && batch.ids.length >= maxRows) return false;
    if (!this.#fits(batch, plain!, line)) return false;
    if (line === undefined) line = batch.addLine(row, id, plain!);
    else if (!fitsFull(plain!, line.total + plain!.count)) return false;
    line.add(job, plain!);
    batch.jobs.push(job);
    return true;
  }

  /**
   * Whether a call has the terms of its row, and those of the batch if the statement does not mix
   * terms.
   */
  sharesTerms(batch: PlainBatch, { decision: { plain, rows } }: Job): boolean {
    return this.#fits(batch, plain!, batch.lineOf(rowKey(rows[0]!)));
  }

  async carryOut(batch: PlainBatch, isHurried: boolean): Promise<Outcome> {
    const { now } = batch;
    // Lock in the same order in every process, so that two statements cannot wait for each other.
    if (batch.lines.length > 1) batch.lines.sort((a, b) => (a.id < b.id ? -1 : 1));
    let taken: Map<string, Row>;
    try {
      taken = await this.access.take!(
        batch.lines.map(({ row, terms, total }) => ({
          row,
          terms,
          total,
          fresh: takeFromFull(terms.config, now, total, terms.least),
        })),
        {
          now,
          mayWait: !isHurried,
          isWanted: () => !batch.jobs.some(({ expired }) => expired),
        },
      );
    } catch (error) {
      return outcomeOfError(batch, this.access, error, "decide");
    }
    const again: Job[] = [];
    for (const line of batch.lines) {
      const next = taken.get(line.id);
      if (next === undefined) again.push(...line.jobs);
      // Assume that the next call wants as many tokens as the last one.
      noteTokens(this.spent, line.id, line.takes.at(-1)!, next, now);
    }
    const answer = () => {
      for (const line of batch.lines) answerLine(line, taken.get(line.id), now);
    };
    return { again, nextWay: "decide", conflicts: 0, failed: false, answer };
  }

  /** @param line of the row of the take, if there is one. */
  #fits(batch: PlainBatch, take: PlainTake<unknown>, line: Line | undefined): boolean {
    if (batch.clock !== take.clock) return false;
    const like = line ?? (this.access.mixesTerms ? undefined : batch.lines[0]);
    return like === undefined || isSameTerms(like.terms, take);
  }
}

/**
 * Notes whether a row has tokens for a next call.
 *
 * @param take what that call may want.
 * @param next the row; `undefined` if nothing was taken.
 */
export function noteTokens(
  spent: SpentRows,
  id: string,
  { config, count, floor }: PlainTake<unknown>,
  next: Row | undefined,
  now: number,
): void {
  if (next === undefined) spent.set(id, Infinity);
  else if (levelIn(config, next).used + count > mostUsed(config, floor)) {
    spent.set(id, now + waitFor(next, config, now, count, floor));
  } else if (spent.size > 0) spent.delete(id);
}

function answerLine({ jobs, takes, total }: Line, next: Row | undefined, now: number): void {
  if (next === undefined) return;
  let sum = 0;
  for (let index = 0; index < jobs.length; index++) {
    const take = takes[index]!;
    sum += take.count;
    jobs[index]!.resolve(take.granted(next, total - sum, now));
  }
}

/** The time of a clock; `undefined` if the clock throws, or tells no number. */
export function timeOf(clock: () => number): number | undefined {
  try {
    const now = clock();
    return Number.isFinite(now) ? now : undefined;
  } catch {
    return undefined;
  }
}
