/**
 * The choice of the way that a call goes. A plain take goes the plain way, unless its row is known to
 * have no tokens: a denial then costs one read. A call that is not plain is decided in this process. A
 * call that has to be decided again goes the way that its last batch has named.
 */
import type { RowAccess } from "../../row-access.js";
import { rowKey } from "../../store.js";
import type { Batch, Job, Outcome, Way } from "../batch.js";
import type { SpentRows } from "../spent-rows.js";
import { AloneWay, type LoneTake } from "./alone.js";
import { GuardedWay, LockedWay, ReadWay } from "./general.js";
import { PlainWay, timeOf } from "./plain.js";

/** The state of a call that has to be decided again. */
interface Detour {
  /** The way to go next. The plain way stands for a choice from the beginning. */
  way: Way;
  /** The number of conflicts in a row. */
  conflicts: number;
  /** Whether the call could not lock its rows in time. */
  isHeld: boolean;
}

export class Ways {
  readonly take: PlainWay;
  readonly read: ReadWay;
  readonly decide: GuardedWay;
  readonly lock: LockedWay;
  readonly #alone: AloneWay;
  readonly #detours = new Map<Job, Detour>();

  constructor(
    private readonly access: RowAccess,
    private readonly spent: SpentRows,
  ) {
    this.take = new PlainWay(access, spent);
    this.#alone = new AloneWay(access, spent);
    this.read = new ReadWay(access, spent);
    this.decide = new GuardedWay(access, spent);
    this.lock = new LockedWay(access, spent);
  }

  /** The way of a call that may write. */
  of(job: Job): Way {
    const { access } = this;
    if (access.serializable) return this.lock;
    const way = this.#detours.size > 0 ? this.#detours.get(job)?.way : undefined;
    if (way !== undefined && way !== this.take) return way;
    const { plain, rows } = job.decision;
    if (plain === undefined || access.take === undefined) return this.decide;
    const until = this.spent.get(rowKey(rows[0]!));
    if (until === undefined) return this.take;
    return until === Infinity || timeOf(plain.clock)! < until ? this.decide : this.take;
  }

  /**
   * The take of a call that is alone; `undefined` if the call is no plain take, or if something known
   * about the call or its row speaks for another way.
   */
  alone(job: Job): LoneTake | undefined {
    const { access } = this;
    const { decision } = job;
    const { plain } = decision;
    if (plain === undefined || access.takeOne === undefined || access.serializable)
      return undefined;
    if (job.expired || this.#detours.size > 0) return undefined;
    if (this.spent.size > 0 && this.spent.has(rowKey(decision.rows[0]!))) return undefined;
    return this.#alone.begin(job, plain);
  }

  /** A batch with this call. */
  begin(way: Way, job: Job): Batch {
    const batch = way.begin(job);
    if (batch !== undefined) return batch;
    this.#detours.set(job, { way: this.decide, conflicts: 0, isHeld: false });
    return this.decide.begin(job);
  }

  /** Whether the call has waited in vain for a row that another transaction holds. */
  isHeld(job: Job): boolean {
    return this.#detours.get(job)?.isHeld ?? false;
  }

  forget(job: Job): void {
    if (this.#detours.size > 0) this.#detours.delete(job);
  }

  /**
   * Remembers on which way the calls of a batch are decided again.
   *
   * @returns the number of conflicts in a row that these calls have met; 0 if the batch met none.
   */
  finish({ jobs, way }: Batch, { again, nextWay, conflicts: lost }: Outcome): number {
    const conflicts = lost > 0 ? 1 + this.#mostConflicts(again) : 0;
    if (this.#detours.size > 0) for (const job of jobs) this.#detours.delete(job);
    if (again.length === 0 || way === this.read) return conflicts;
    const isHeld = way === this.lock && nextWay === "lock";
    const detour = { way: this[nextWay], conflicts, isHeld };
    for (const job of again) this.#detours.set(job, detour);
    return conflicts;
  }

  /** The highest number of conflicts in a row among these calls. */
  #mostConflicts(jobs: readonly Job[]): number {
    let most = 0;
    if (this.#detours.size === 0) return most;
    for (const job of jobs) most = Math.max(most, this.#detours.get(job)?.conflicts ?? 0);
    return most;
  }
}
