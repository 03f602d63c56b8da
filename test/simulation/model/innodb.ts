/**
 * How InnoDB locks and writes rows. A locking read sees the newest version and locks it. At REPEATABLE
 * READ and above, a locking read of a missing row locks its gap, which keeps others from inserting the
 * row. A failed statement is undone, but leaves its locks. After a deadlock, the whole transaction is
 * undone.
 */
import type { Timeline } from "../timeline.js";
import { LockTable } from "./locks.js";
import { ModelError, ModelRows, ModelTransaction, type Stored } from "./rows.js";

export type WhenLocked = "wait" | "nowait" | "skip";

export class InnodbTransaction extends ModelTransaction {
  /** The records that the transaction has inserted into the index. */
  readonly inserted = new Set<string>();
  /** How many rows the transaction has written. */
  undo = 0;
  /** Whether the transaction's statement updates duplicates. */
  updatesDuplicates = false;

  get locksGaps(): boolean {
    return this.level !== "read committed";
  }
}

/** The state to which a failed statement is undone. */
export interface Savepoint {
  writes: Map<string, Stored>;
  inserted: Set<string>;
}

export class Innodb {
  readonly rows: ModelRows;
  readonly #locks: LockTable<ModelTransaction>;
  /** Deleted records, each with the commit that has deleted it. */
  readonly #deleted = new Map<string, number>();

  constructor(timeline: Timeline) {
    this.#locks = new LockTable({
      timeline,
      deadlockTimeout: 0,
      upgradesWait: true,
      timedOut: "lock wait time-out",
      victimOf: (circle, finder) => this.#victimOf(circle, finder),
    });
    this.rows = new ModelRows(this.#locks);
    this.rows.onRestore = (ids) => this.#locks.gaps.begin(ids);
  }

  begin(level: ModelTransaction["level"]): InnodbTransaction {
    const tx = new InnodbTransaction(this.rows, level);
    this.rows.open.add(tx);
    return tx;
  }

  finish(tx: InnodbTransaction, commits: boolean): void {
    if (!this.rows.open.has(tx)) return;
    this.rows.finish(tx, commits);
    if (!commits) for (const id of tx.inserted) this.#remove(id);
    else {
      const deleted = [...tx.writes].filter(([, state]) => state === null);
      for (const [id] of deleted) this.#deleted.set(id, tx.committedAs!);
    }
    this.#purge();
  }

  /** A deleted record stays in the index as long as a snapshot exists that has the row. */
  #purge(): void {
    const snapshots = [...this.rows.open].map(({ snapshot }) => snapshot ?? Infinity);
    const oldest = Math.min(Infinity, ...snapshots);
    for (const [id, commit] of this.#deleted) {
      if (this.rows.writerOf(id) !== undefined || commit > oldest) continue;
      this.#deleted.delete(id);
      if (this.rows.newest(id) === null) this.#remove(id);
    }
  }

  savepoint(tx: InnodbTransaction): Savepoint {
    return { writes: new Map(tx.writes), inserted: new Set(tx.inserted) };
  }

  /** Undoes a statement. Its locks stay. */
  undo(tx: InnodbTransaction, { writes, inserted }: Savepoint): void {
    if (!this.rows.open.has(tx)) return;
    const gone = [...tx.inserted].filter((id) => !inserted.has(id));
    for (const id of gone) tx.inserted.delete(id);
    tx.writes.clear();
    for (const [id, state] of writes) tx.writes.set(id, state);
    for (const id of gone) this.#remove(id);
  }

  /**
   * A locking read. At REPEATABLE READ and above, a missing row leaves a lock of its gap.
   *
   * @returns the newest state, or `undefined` if the row must be skipped.
   */
  async lock(
    tx: InnodbTransaction,
    id: string,
    mode: "share" | "update",
    whenLocked: WhenLocked,
  ): Promise<Stored | undefined> {
    const { gaps } = this.#locks;
    while (gaps.has(id)) {
      if (whenLocked === "wait") await this.rows.lock(tx, id, mode);
      else if (!this.#locks.tryLock(tx, id, mode)) {
        if (whenLocked === "skip") {
          // The search goes on to the next record, and finds that it is not the row.
          if (tx.locksGaps) gaps.lockBehind(tx, id);
          return undefined;
        }
        throw new ModelError("lock not available");
      }
      // While this statement waited, the row may have been deleted.
      if (!gaps.has(id)) continue;
      return tx.readLocked(id);
    }
    if (tx.locksGaps) gaps.lock(tx, id);
    return null;
  }

  holds(tx: InnodbTransaction, id: string): boolean {
    return this.#locks.holds(tx, id);
  }

  /** Releases a row that does not match after all. Only READ COMMITTED does so. */
  release(tx: InnodbTransaction, id: string): void {
    if (!tx.locksGaps) this.#locks.release(tx, id);
  }

  /** @returns false if there is such a row, which is locked then. */
  async insert(tx: InnodbTransaction, id: string, state: Stored): Promise<boolean> {
    const { gaps } = this.#locks;
    for (;;) {
      if (gaps.has(id)) {
        await this.rows.lock(tx, id, "update");
        if (!gaps.has(id)) continue;
        if (tx.readLocked(id) !== null) return false;
        break;
      }
      if (gaps.holdersAt(id, tx).length === 0) {
        gaps.addRecord(id);
        this.#locks.tryLock(tx, id, "update");
        tx.inserted.add(id);
        break;
      }
      await this.rows.lockForInsert(tx, id);
    }
    this.write(tx, id, state);
    return true;
  }

  write(tx: InnodbTransaction, id: string, state: Stored): void {
    tx.write(id, state);
    tx.undo++;
  }

  /** Removes a record from the index. Locks of the record become locks of the gap. */
  #remove(id: string): void {
    const found = this.#locks.forget(id);
    const heirs = found.filter(([owner, mode]) => {
      const { locksGaps, updatesDuplicates } = owner as InnodbTransaction;
      return locksGaps || (mode === "update" && updatesDuplicates);
    });
    this.#locks.gaps.removeRecord(
      id,
      // The inserter's own lock exists only if another transaction has asked for it.
      found.length > 1 ? heirs.map(([owner]) => owner) : [],
    );
  }

  /** The transaction that has done least. Among equals, the one that has found the deadlock. */
  #victimOf(circle: readonly ModelTransaction[], finder: ModelTransaction): ModelTransaction {
    const weigh = (tx: ModelTransaction) => {
      const modes = this.#locks.modesOf(tx).size;
      return (tx as InnodbTransaction).undo + 2 * modes + (this.#locks.gaps.holds(tx) ? 1 : 0);
    };
    const least = Math.min(...circle.map(weigh));
    return weigh(finder) === least ? finder : circle.find((tx) => weigh(tx) === least)!;
  }
}
