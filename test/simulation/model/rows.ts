/**
 * The rows of a model database, in versions, and the transactions that read and write them. The model
 * keeps a database's promises about isolation and locks, and nothing else: no disk and no planner. The
 * differential test compares it with the real databases.
 */
import type { Row } from "../../../core/rows/row.js";
import type { LockMode, LockTable } from "./locks.js";

/** A state, or `null` for no row. */
export type Stored = Row | null;

export type Level = "read committed" | "repeatable read" | "serializable";

/** An error of the database. The dialect decides its form. */
export class ModelError extends Error {
  constructor(readonly reason: Reason) {
    super(reason);
  }
}

export type Reason =
  | "serialization failure"
  | "deadlock"
  | "lock not available"
  | "lock wait time-out"
  | "transaction aborted"
  | "read-only"
  | "out of range";

interface Version {
  /** The number of the commit that made the version. */
  commit: number;
  state: Stored;
  /** Whether a Serializable transaction made the version. */
  bySerializable: boolean;
}

/** The id of a row is a text: a name, a key and a shard, in the order of the primary key. */
export class ModelRows {
  readonly locks: LockTable<ModelTransaction>;
  /** Committed versions, oldest first. */
  readonly #versions = new Map<string, Version[]>();
  /** The open transaction that has written each row. */
  readonly #written = new Map<string, ModelTransaction>();
  #commits = 0;
  /** Transactions whose snapshots need old versions. */
  readonly open = new Set<ModelTransaction>();
  /** Called at each commit that writes. */
  onCommit: ((tx: ModelTransaction) => void) | undefined;
  /** Called with the rows that exist after a restore. */
  onRestore: ((ids: string[]) => void) | undefined;

  constructor(locks: LockTable<ModelTransaction>) {
    this.locks = locks;
  }

  get lastCommit(): number {
    return this.#commits;
  }

  begin(level: Level): ModelTransaction {
    const tx = new ModelTransaction(this, level);
    this.open.add(tx);
    return tx;
  }

  /** Waits for the lock of a row. */
  async lock(tx: ModelTransaction, id: string, mode: LockMode): Promise<void> {
    await this.locks.lock(tx, id, mode, tx.lockTimeout);
    this.#checkOpen(tx);
  }

  /** Waits for all who have locked the gap into which a row is inserted. */
  async lockForInsert(tx: ModelTransaction, id: string): Promise<void> {
    await this.locks.lockForInsert(tx, id, tx.lockTimeout);
    this.#checkOpen(tx);
  }

  /** Waits for the end of another transaction that has written the row. */
  async waitForEnd(tx: ModelTransaction, other: ModelTransaction, id: string): Promise<void> {
    await this.locks.waitForEnd(tx, other, id, tx.lockTimeout);
    this.#checkOpen(tx);
  }

  /** The transaction's connection may have been lost at the instant at which its wait ended. */
  #checkOpen(tx: ModelTransaction): void {
    if (!this.open.has(tx)) throw new ModelError("transaction aborted");
  }

  /** The newest committed state. */
  newest(id: string): Stored {
    return this.#versions.get(id)?.at(-1)?.state ?? null;
  }

  /** The state at a commit. */
  asOf(id: string, commit: number): Stored {
    return this.#versions.get(id)?.findLast((version) => version.commit <= commit)?.state ?? null;
  }

  /** Whether a commit after this one has changed the row. */
  hasChangedSince(id: string, commit: number, bySerializable = false): boolean {
    const versions = this.#versions.get(id) ?? [];
    return versions.some(
      (version) => version.commit > commit && (!bySerializable || version.bySerializable),
    );
  }

  /** The open transaction that has written the row. */
  writerOf(id: string): ModelTransaction | undefined {
    return this.#written.get(id);
  }

  /** All rows that exist, sorted by their ids. */
  all(): [id: string, state: Row][] {
    const found: [string, Row][] = [];
    for (const id of [...this.#versions.keys()].sort()) {
      const state = this.newest(id);
      if (state !== null) found.push([id, state]);
    }
    return found;
  }

  noteWrite(id: string, tx: ModelTransaction): void {
    this.#written.set(id, tx);
  }

  /** Ends a transaction. If it commits, its writes become visible. */
  finish(tx: ModelTransaction, commits: boolean): void {
    if (!this.open.delete(tx)) return;
    if (commits && tx.writes.size > 0) {
      const commit = ++this.#commits;
      tx.committedAs = commit;
      const bySerializable = tx.level === "serializable";
      const oldest = Math.min(commit, ...[...this.open].map(({ needs }) => needs ?? commit));
      for (const [id, state] of tx.writes) {
        const versions = this.#versions.get(id) ?? [];
        versions.push({ commit, state, bySerializable });
        while (versions.length > 1 && versions[1]!.commit <= oldest) versions.shift();
        this.#versions.set(id, versions);
      }
      this.onCommit?.(tx);
    }
    for (const id of tx.writes.keys()) {
      if (this.#written.get(id) === tx) this.#written.delete(id);
    }
    this.locks.releaseAll(tx);
  }

  /** A copy of the committed rows, for another server. */
  snapshot(): Map<string, Stored> {
    return new Map([...this.#versions.keys()].map((id) => [id, this.newest(id)]));
  }

  /** Takes over the committed rows of another server. */
  restore(rows: ReadonlyMap<string, Stored>): void {
    this.#versions.clear();
    for (const [id, state] of rows) {
      this.#versions.set(id, [{ commit: 0, state, bySerializable: false }]);
    }
    this.onRestore?.(this.all().map(([id]) => id));
  }
}

export class ModelTransaction {
  readonly writes = new Map<string, Stored>();
  /** The rows that the transaction has read, including rows that do not exist. */
  readonly reads = new Set<string>();
  /**
   * The last commit that the transaction sees. Set at its first statement, if the transaction keeps a
   * snapshot.
   */
  snapshot: number | undefined;
  committedAs: number | undefined;
  /** The commit that the current statement sees. Older versions of rows are kept for it. */
  needs: number | undefined;
  /** How long the transaction's statements wait for a lock, ms. */
  lockTimeout = Infinity;
  isAborted = false;
  /** When the running statement was sent. */
  sentAt = 0;
  /** For each written row: when the statement that wrote it was sent. */
  readonly writtenBy = new Map<string, number>();

  constructor(
    readonly rows: ModelRows,
    readonly level: Level,
  ) {}

  get keepsSnapshot(): boolean {
    return this.level !== "read committed";
  }

  /** Begins a statement. The statement sees the last commit, or the transaction's snapshot. */
  see(): number {
    if (this.keepsSnapshot) this.snapshot ??= this.rows.lastCommit;
    return (this.needs = this.snapshot ?? this.rows.lastCommit);
  }

  /** The state of a row that the transaction sees without a lock. */
  read(id: string): Stored {
    this.reads.add(id);
    const own = this.writes.get(id);
    return own === undefined ? this.rows.asOf(id, this.see()) : own;
  }

  /** The newest state, for a transaction that holds the lock of the row. */
  readLocked(id: string): Stored {
    this.reads.add(id);
    const own = this.writes.get(id);
    return own === undefined ? this.rows.newest(id) : own;
  }

  write(id: string, state: Stored): void {
    this.writes.set(id, state);
    this.writtenBy.set(id, this.sentAt);
    this.rows.noteWrite(id, this);
  }

  /** Whether the row has changed since the transaction's snapshot was taken. */
  isOutdated(id: string): boolean {
    return this.snapshot !== undefined && this.rows.hasChangedSince(id, this.snapshot);
  }

  /**
   * Whether another Serializable transaction has changed a row that this one has read. PostgreSQL looks
   * only for dangerous structures, which are fewer, so it fails less often. PostgreSQL never lets more
   * through than the model.
   */
  hasStaleReads(): boolean {
    const { snapshot, rows } = this;
    if (this.level !== "serializable" || snapshot === undefined || this.writes.size === 0) {
      return false;
    }
    return [...this.reads].some((id) => rows.hasChangedSince(id, snapshot, true));
  }
}

/** No name and no key contains NUL. */
export function idOf(name: unknown, key: unknown, shard: unknown): string {
  return `${String(name)}\0${String(key)}\0${String(shard)}`;
}

export function columnsOf(id: string, { used, ts }: Row) {
  const [name, key, shard] = id.split("\0");
  return { name, key, shard: Number(shard), used, ts };
}
