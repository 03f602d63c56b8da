/**
 * PostgreSQL, as far as the statements of the package can tell. The model recognizes statements by their
 * shape. An unknown statement is an error, so that a new statement must be modelled before it is
 * simulated.
 */
import type { Row } from "../../../core/rows/row.js";
import { understandBrowse, understandFull } from "./browse.js";
import { LockTable, type LockMode } from "./locks.js";
import { ModelError, ModelRows, type ModelTransaction, type Reason, type Stored } from "./rows.js";
import type { Timeline } from "../timeline.js";
import {
  idsOf,
  linesOfTake,
  linesWithTermsOf,
  type ModelLine,
  numbersOf,
} from "./postgresql-params.js";
import { PostgresqlSession } from "./postgresql-session.js";
import { takeFrom } from "./take.js";
import { type Answer, answer, byText, type ModelServer, type Statement } from "./server.js";

/** The SQLSTATE for each reason. */
const CODES: Record<Reason, string> = {
  "serialization failure": "40001",
  deadlock: "40P01",
  "lock not available": "55P03",
  "lock wait time-out": "55P03",
  "transaction aborted": "25P02",
  "read-only": "25006",
  "out of range": "22003",
};

const MODES: Record<string, LockMode> = {
  UPDATE: "update",
  "NO KEY UPDATE": "change",
  "KEY SHARE": "share",
};

export class PostgresqlServer implements ModelServer {
  readonly rows: ModelRows;
  isReadOnly = false;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly statementOf = byText((text) => this.#understand(text));

  constructor(timeline: Timeline, clock: () => number) {
    this.clock = clock;
    this.rows = new ModelRows(
      new LockTable({
        timeline,
        deadlockTimeout: 1000,
        overtakes: true,
        timedOut: "lock not available",
      }),
    );
  }

  connect(): PostgresqlSession {
    return new PostgresqlSession(this);
  }

  hold(id: string): () => void {
    const tx = this.rows.begin("read committed");
    this.rows.locks.tryLock(tx, id, "update");
    return () => this.rows.finish(tx, false);
  }

  errorOf(reason: Reason): Error {
    const fields = { severity: "ERROR", code: CODES[reason] };
    return Object.assign(new Error(`model: ${reason}`), fields);
  }

  #understand(text: string): Statement<ModelTransaction> {
    const withClock = text.includes("clock_timestamp()");
    const clock = (): Record<string, unknown> => (withClock ? { clock: this.clock() } : {});
    if (text === "SELECT 1") return async () => answer([{}]);
    if (text.includes("FROM pg_class"))
      return async () => answer(TABLE.map((row) => ({ ...row, ...clock() })));
    const bound = /set_config\('lock_timeout', '(\d+)', true\)/.exec(text);
    const bounded = (tx: ModelTransaction) => {
      if (bound) tx.lockTimeout = Number(bound[1]);
    };
    if (text.startsWith("SELECT current_setting('lock_timeout')")) {
      return async (tx) => {
        const timeout = tx.lockTimeout === Infinity ? "0" : `${tx.lockTimeout}ms`;
        bounded(tx);
        return answer([{ timeout }]);
      };
    }
    if (text.startsWith("SELECT set_config('lock_timeout', $1")) {
      return async (tx, [value]) => {
        tx.lockTimeout = Number.parseInt(String(value), 10) || Infinity;
        return answer([{}]);
      };
    }
    const lock = /FOR (UPDATE|NO KEY UPDATE|KEY SHARE) OF t( NOWAIT)?/.exec(text);
    if (/^SELECT t\."name".* FROM \(SELECT \$1::text\[\] AS a0, .* LATERAL/.test(text)) {
      return (tx, params) => this.#read(tx, idsOf(params), bounded, lock, clock);
    }
    if (/^SELECT (?!t\."name").* FROM "\w+" AS t\s+WHERE t\."name" = \$1/.test(text)) {
      return (tx, params) => this.#read(tx, idsOf(params.map(listOf)), bounded, lock, clock);
    }
    if (text.includes("ON CONFLICT DO NOTHING")) {
      return (tx, params) => {
        bounded(tx);
        return this.#insert(tx, params);
      };
    }
    if (text.includes('DO UPDATE SET ("used", "ts") = (')) {
      return (tx, params) => this.#take(tx, linesWithTermsOf(params), false, bounded, clock);
    }
    if (text.includes("DO UPDATE SET")) {
      const isOne = text.includes("VALUES ($1");
      const linesOf = linesOfTake(text, isOne);
      return (tx, params) => this.#take(tx, linesOf(params), isOne, bounded, clock);
    }
    if (/^UPDATE "\w+" AS t SET "used" = \$4/.test(text)) {
      return (tx, [name, key, shard, used, ts, ...was]) => {
        const lists = [name, key, shard, ...was, used, ts, 0].map(listOf);
        return this.#update(tx, lists, false);
      };
    }
    if (/UPDATE "\w+" AS t SET/.test(text)) {
      return (tx, params) => this.#update(tx, params, text.includes('IN (SELECT i."group"'));
    }
    if (text.includes("DELETE FROM") && text.includes("abs(")) return this.#prune(text);
    if (text.includes("DELETE FROM")) return (tx, params) => this.#remove(tx, params);
    const browse = understandBrowse(text, this.rows);
    if (browse !== undefined) return async (_tx, params) => browse(params);
    throw new Error(`the model does not know this statement: ${text}`);
  }

  /** Locks a visible row. @returns false if the row must be skipped. */
  async #lock(tx: ModelTransaction, id: string, mode: LockMode, wait: "wait" | "nowait" | "skip") {
    const { locks } = this.rows;
    // The version that the transaction sees is not the newest. So it fails without waiting for the lock.
    if (tx.keepsSnapshot && tx.isOutdated(id)) throw new ModelError("serialization failure");
    if (wait === "wait") await this.rows.lock(tx, id, mode);
    else if (!locks.tryLock(tx, id, mode)) {
      if (wait === "skip") return false;
      throw new ModelError("lock not available");
    }
    if (tx.keepsSnapshot && tx.isOutdated(id)) throw new ModelError("serialization failure");
    return true;
  }

  async #read(
    tx: ModelTransaction,
    ids: readonly string[],
    bounded: (tx: ModelTransaction) => void,
    lock: RegExpExecArray | null,
    clock: () => Record<string, unknown>,
  ): Promise<Answer> {
    const seen = tx.see();
    const rows: Record<string, unknown>[] = [];
    for (const id of ids) {
      let state = tx.writes.has(id) ? tx.writes.get(id)! : this.rows.asOf(id, seen);
      tx.reads.add(id);
      if (state !== null && lock !== null) {
        bounded(tx);
        await this.#lock(tx, id, MODES[lock[1]!]!, lock[2] === undefined ? "wait" : "nowait");
        state = tx.readLocked(id);
      }
      if (state !== null) rows.push({ ...rowOf(id), state: bitsOf(state), ...clock() });
      else if ("clock" in clock()) rows.push({ name: null, ...clock() });
    }
    return answer(rows);
  }

  /**
   * Waits for another transaction that has inserted, changed or deleted the row. Does not wait for a mere
   * lock. @returns the state after the wait, without a lock. A new row is locked.
   */
  async #lockForInsert(tx: ModelTransaction, id: string): Promise<Stored> {
    for (;;) {
      const writer = this.rows.writerOf(id);
      if (writer !== undefined && writer !== tx) await this.rows.waitForEnd(tx, writer, id);
      else if (tx.readLocked(id) !== null) return tx.readLocked(id);
      else if (this.rows.locks.tryLock(tx, id, "update")) return null;
      else await this.rows.lock(tx, id, "update");
    }
  }

  async #insert(tx: ModelTransaction, params: readonly unknown[]): Promise<Answer> {
    const ids = idsOf(params);
    const [used, times] = numbersOf(params, 3, 2);
    tx.see();
    const rows: Record<string, unknown>[] = [];
    for (const [i, id] of ids.entries()) {
      const found = await this.#lockForInsert(tx, id);
      if (found !== null) {
        const isHidden = tx.keepsSnapshot && !tx.writes.has(id) && tx.isOutdated(id);
        if (isHidden) throw new ModelError("serialization failure");
        continue;
      }
      const state = { used: used![i]!, ts: times![i]! };
      tx.write(id, state);
      rows.push(rowOf(id));
    }
    return answer(rows);
  }

  async #take(
    tx: ModelTransaction,
    lines: readonly ModelLine[],
    isOne: boolean,
    bounded: (tx: ModelTransaction) => void,
    clock: () => Record<string, unknown>,
  ): Promise<Answer> {
    bounded(tx);
    tx.see();
    const rows: Record<string, unknown>[] = [];
    for (const { id, fresh, numbers } of lines) {
      let found = await this.#lockForInsert(tx, id);
      if (found !== null) {
        await this.rows.lock(tx, id, "change");
        found = tx.readLocked(id);
        if (tx.keepsSnapshot && tx.isOutdated(id)) throw new ModelError("serialization failure");
      }
      const next = found === null ? fresh : takeFrom(found, numbers);
      if (next === undefined) continue;
      tx.write(id, next);
      const shown = { ...(!isOne && rowOf(id)), state: bitsOf(next) };
      rows.push({ ...shown, ...clock() });
    }
    return answer(rows);
  }

  async #update(
    tx: ModelTransaction,
    params: readonly unknown[],
    inGroups: boolean,
  ): Promise<Answer> {
    const ids = idsOf(params);
    const [wasUsed, wasTimes, used, times] = numbersOf(params, 3, 4);
    const groups = params[7] as number[];
    const locked = await this.#lockSame(tx, ids, wasUsed!, wasTimes!, "change");
    const lostGroups = new Set(groups.filter((_, i) => !locked.has(i)));
    const rows: Record<string, unknown>[] = [];
    for (const i of locked) {
      if (inGroups && lostGroups.has(groups[i]!)) continue;
      tx.write(ids[i]!, { used: used![i]!, ts: times![i]! });
      rows.push(rowOf(ids[i]!));
    }
    return answer(rows);
  }

  async #remove(tx: ModelTransaction, params: readonly unknown[]): Promise<Answer> {
    const ids = idsOf(params);
    const [wasUsed, wasTimes] = numbersOf(params, 3, 2);
    const locked = await this.#lockSame(tx, ids, wasUsed!, wasTimes!, "update");
    const rows = [...locked].map((i) => rowOf(ids[i]!));
    for (const i of locked) tx.write(ids[i]!, null);
    return answer(rows);
  }

  /** Deletes full rows, and skips rows that others have locked. */
  #prune(text: string): Statement<ModelTransaction> {
    const fullRows = understandFull(text, this.rows);
    return async (tx, params) => {
      tx.see();
      const locked = fullRows(params).filter((id) => this.rows.locks.tryLock(tx, id, "update"));
      for (const id of locked) tx.write(id, null);
      return answer(locked.map(rowOf));
    };
  }

  /** Locks the rows that have not changed, and skips rows that others have locked. */
  async #lockSame(
    tx: ModelTransaction,
    ids: readonly string[],
    wasUsed: readonly number[],
    wasTimes: readonly number[],
    mode: LockMode,
  ): Promise<Set<number>> {
    const seen = tx.see();
    const locked = new Set<number>();
    const isSame = (state: Stored, i: number) =>
      state !== null && state.used === wasUsed[i] && state.ts === wasTimes[i];
    for (const [i, id] of ids.entries()) {
      tx.reads.add(id);
      const visible = tx.writes.has(id) ? tx.writes.get(id)! : this.rows.asOf(id, seen);
      if (!isSame(visible, i)) continue;
      if (!(await this.#lock(tx, id, mode, "skip"))) continue;
      if (isSame(tx.readLocked(id), i)) locked.add(i);
    }
    return locked;
  }
}

/** The columns that the check of the table finds. */
const TABLE = [
  ["name", "text"],
  ["key", "text"],
  ["shard", "int4"],
  ["used", "float8"],
  ["ts", "float8"],
].map(([name, type]) => ({
  schema: "public",
  name,
  type,
  collation: type === "text" ? "C" : null,
  deterministic: "true",
  hasKey: true,
  found: true,
  searched: "public",
  encoding: "UTF8",
  version: "PostgreSQL 15.5 (model)",
}));

/** Turns a parameter of a statement about one row into the list of a statement about many rows. */
const listOf = (param: unknown) => [param];

/** The bits of two doubles, as the statements return them. */
function bitsOf({ used, ts }: Row): string {
  const bits = new DataView(new ArrayBuffer(16));
  bits.setFloat64(0, used);
  bits.setFloat64(8, ts);
  const hex = (n: bigint) => n.toString(16).padStart(16, "0");
  return hex(bits.getBigUint64(0)) + hex(bits.getBigUint64(8));
}

/** The row without its state. */
function rowOf(id: string): Record<string, unknown> {
  const [name, key, shard] = id.split("\0");
  return { name, key, shard: Number(shard) };
}
