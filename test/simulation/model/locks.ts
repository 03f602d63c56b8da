/** Locks of rows, lines of owners that wait for them, and the search for deadlocks. */
import type { Planned, Timeline } from "../timeline.js";
import { GapLocks } from "./gap-locks.js";
import { ModelError } from "./rows.js";

/**
 * From the weakest to the strongest. Conflicts: `update` conflicts with every mode, and `change`
 * conflicts with `change`. All other pairs do not conflict. The modes are PostgreSQL's FOR KEY SHARE, FOR
 * NO KEY UPDATE and FOR UPDATE. InnoDB has `share` and `update`, without `change`.
 */
export type LockMode = "share" | "change" | "update";

const conflicts = (a: LockMode, b: LockMode) =>
  a === "update" || b === "update" || (a === "change" && b === "change");

function isOfRow(mode: LockMode | "insert" | "end"): mode is LockMode {
  return mode !== "insert" && mode !== "end";
}

const STRENGTH: Record<LockMode, number> = { share: 0, change: 1, update: 2 };

interface Waiter<TOwner> {
  owner: TOwner;
  /**
   * `"insert"`: the owner waits for those who have locked the gap. `"end"`: the owner waits for the end
   * of one transaction, and takes no lock.
   */
  mode: LockMode | "insert" | "end";
  /** The owner whose end this one waits for. */
  until?: TOwner | undefined;
  id: string;
  grant(): void;
  fail(error: ModelError): void;
  bound: Planned | undefined;
  search: Planned | undefined;
}

export interface LockTableOptions<TOwner> {
  timeline: Timeline;
  /**
   * How long a statement waits before it searches for a deadlock, ms. With 0, the search begins at once.
   */
  deadlockTimeout: number;
  /**
   * Whether a lock is taken at once if no held lock conflicts with it, also past owners that wait for a
   * conflicting lock.
   */
  overtakes?: boolean;
  /** Whether an owner that holds the row in a weaker mode waits behind the others. */
  upgradesWait?: boolean;
  /** The error of a wait that took too long. */
  timedOut: "lock not available" | "lock wait time-out";
  /**
   * Chooses the owner that has to give up, among owners that wait for each other.
   *
   * @default the owner that has found the deadlock
   */
  victimOf?(circle: readonly TOwner[], finder: TOwner): TOwner;
}

export class LockTable<TOwner extends object> {
  readonly #options: LockTableOptions<TOwner>;
  readonly #held = new Map<string, Map<TOwner, LockMode>>();
  readonly #lines = new Map<string, Waiter<TOwner>[]>();
  readonly #waiting = new Map<TOwner, Waiter<TOwner>>();
  readonly gaps = new GapLocks<TOwner>();
  /** How many deadlocks were found. */
  deadlocks = 0;
  waits = 0;

  constructor(options: LockTableOptions<TOwner>) {
    this.#options = options;
  }

  get heldCount(): number {
    return this.#held.size + this.gaps.count;
  }

  holds(owner: TOwner, id: string): boolean {
    return this.#held.get(id)?.has(owner) ?? false;
  }

  /** The modes in which the owner holds locks. */
  modesOf(owner: TOwner): Set<LockMode> {
    const modes = [...this.#held.values()].map((holders) => holders.get(owner));
    return new Set(modes.filter((mode) => mode !== undefined));
  }

  isWaiting(owner: TOwner): boolean {
    return this.#waiting.has(owner);
  }

  /** Takes the lock if it is free, even if others wait for it. */
  tryLock(owner: TOwner, id: string, mode: LockMode): boolean {
    if (!this.#isFree(owner, id, mode)) return false;
    this.#give(owner, id, mode);
    return true;
  }

  /**
   * Takes the lock when it is free, after all who came before.
   *
   * @param ms how long to wait.
   */
  lock(owner: TOwner, id: string, mode: LockMode, ms: number): Promise<void> {
    const line = this.#lines.get(id) ?? [];
    const { overtakes = false, upgradesWait = false } = this.#options;
    const held = this.#held.get(id)?.get(owner);
    const isHeld = held !== undefined && STRENGTH[held] >= STRENGTH[mode];
    const goesFirst = isHeld || (held !== undefined && !upgradesWait);
    const mayPass =
      goesFirst ||
      overtakes ||
      line.every((each) => !isOfRow(each.mode) || !conflicts(each.mode, mode));
    if (mayPass && this.tryLock(owner, id, mode)) return Promise.resolve();
    // An owner that already holds the row in a weaker mode may go before the others.
    return this.#wait({ owner, id, mode, ms, isFirst: goesFirst });
  }

  /** Waits for all who have locked the gap into which a row is inserted. */
  async lockForInsert(owner: TOwner, id: string, ms: number): Promise<void> {
    if (this.gaps.holdersAt(id, owner).length === 0) return;
    await this.#wait({ owner, id, mode: "insert", ms, isFirst: false });
  }

  /** Waits until another owner has ended, because that owner has written the row. */
  waitForEnd(owner: TOwner, until: TOwner, id: string, ms: number): Promise<void> {
    return this.#wait({ owner, id, mode: "end", ms, isFirst: false, until });
  }

  #wait(
    asked: Pick<Waiter<TOwner>, "owner" | "id" | "mode" | "until"> & {
      ms: number;
      isFirst: boolean;
    },
  ): Promise<void> {
    const { owner, id, mode, ms, isFirst, until } = asked;
    this.waits++;
    return new Promise((resolve, reject) => {
      const { timeline, deadlockTimeout, timedOut } = this.#options;
      const leave = () => {
        waiter.bound?.cancel();
        waiter.search?.cancel();
        this.#waiting.delete(owner);
        const left = this.#lines.get(id)?.filter((each) => each !== waiter) ?? [];
        if (left.length > 0) this.#lines.set(id, left);
        else this.#lines.delete(id);
      };
      const waiter: Waiter<TOwner> = {
        owner,
        mode,
        id,
        until,
        bound: undefined,
        search: undefined,
        grant: () => {
          leave();
          if (isOfRow(mode)) this.#give(owner, id, mode);
          resolve();
        },
        fail: (error) => {
          leave();
          this.#serve(id);
          reject(error);
        },
      };
      const line = this.#lines.get(id) ?? [];
      this.#lines.set(id, isFirst ? [waiter, ...line] : [...line, waiter]);
      this.#waiting.set(owner, waiter);
      if (ms !== Infinity) {
        waiter.bound = timeline.plan(ms, () => waiter.fail(new ModelError(timedOut)));
      }
      if (deadlockTimeout === 0) this.#endCircle(owner);
      else waiter.search = timeline.plan(deadlockTimeout, () => this.#endCircle(owner));
    });
  }

  /** Ends a wait, because the connection of the waiting owner is gone. */
  leave(owner: TOwner): void {
    this.#waiting.get(owner)?.fail(new ModelError("transaction aborted"));
  }

  releaseAll(owner: TOwner): void {
    for (const [id, holders] of this.#held) {
      if (!holders.delete(owner)) continue;
      if (holders.size === 0) this.#held.delete(id);
      this.#serve(id);
    }
    for (const waiter of this.#waiting.values()) if (waiter.until === owner) waiter.grant();
    if (!this.gaps.holds(owner)) return;
    this.gaps.release(owner);
    for (const id of this.#lines.keys()) this.#serve(id);
  }

  /** Releases one lock of a row. */
  release(owner: TOwner, id: string): void {
    const holders = this.#held.get(id);
    if (!holders?.delete(owner)) return;
    if (holders.size === 0) this.#held.delete(id);
    this.#serve(id);
  }

  /**
   * The row is gone, so no lock and no wait for it remains. @returns the owners that had locked it or
   * waited.
   */
  forget(id: string): [owner: TOwner, mode: LockMode][] {
    const found = [...(this.#held.get(id) ?? [])];
    this.#held.delete(id);
    for (const waiter of this.#lines.get(id) ?? []) {
      const { owner, mode } = waiter;
      if (!isOfRow(mode)) continue;
      found.push([owner, mode]);
      waiter.grant();
      this.#held.delete(id);
    }
    return found;
  }

  #isFree(owner: TOwner, id: string, mode: LockMode): boolean {
    for (const [holder, held] of this.#held.get(id) ?? []) {
      if (holder !== owner && conflicts(held, mode)) return false;
    }
    return true;
  }

  #give(owner: TOwner, id: string, mode: LockMode): void {
    const holders = this.#held.get(id) ?? new Map<TOwner, LockMode>();
    this.#held.set(id, holders);
    const held = holders.get(owner);
    if (held === undefined || STRENGTH[held] < STRENGTH[mode]) holders.set(owner, mode);
  }

  #serve(id: string): void {
    for (const waiter of this.#lines.get(id) ?? []) {
      const { owner, mode } = waiter;
      if (mode === "insert") {
        if (this.gaps.holdersAt(id, owner).length === 0) waiter.grant();
      } else if (isOfRow(mode)) {
        if (!this.#isFree(owner, id, mode)) return;
        waiter.grant();
      }
    }
  }

  /** Checks whether an owner waits for itself through others, and ends such a deadlock. */
  #endCircle(finder: TOwner): void {
    const circle = this.#circleOf(finder);
    if (circle === undefined) return;
    this.deadlocks++;
    const victim = this.#options.victimOf?.(circle, finder) ?? finder;
    this.#waiting.get(victim)!.fail(new ModelError("deadlock"));
  }

  #circleOf(start: TOwner): TOwner[] | undefined {
    const seen = new Set<TOwner>();
    const visit = (owner: TOwner, path: readonly TOwner[]): TOwner[] | undefined => {
      const waiter = this.#waiting.get(owner);
      if (waiter === undefined) return undefined;
      for (const blocker of this.#blockersOf(waiter)) {
        if (blocker === start) return [...path, owner];
        if (seen.has(blocker)) continue;
        seen.add(blocker);
        const found = visit(blocker, [...path, owner]);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    return visit(start, []);
  }

  #blockersOf(waiter: Waiter<TOwner>): TOwner[] {
    const { id, owner, mode, until } = waiter;
    if (until !== undefined) return [until];
    if (!isOfRow(mode)) return this.gaps.holdersAt(id, owner);
    const holders = [...(this.#held.get(id) ?? [])]
      .filter(([holder, held]) => holder !== owner && conflicts(held, mode))
      .map(([holder]) => holder);
    const line = this.#lines.get(id) ?? [];
    const before = line
      .slice(0, line.indexOf(waiter))
      .filter((each) => isOfRow(each.mode) && conflicts(each.mode, mode));
    return [...holders, ...before.map((each) => each.owner)];
  }
}
