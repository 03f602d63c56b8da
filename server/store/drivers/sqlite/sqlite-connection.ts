/** A connection of a synchronous client. The statements of a connection are prepared once per text. */
import { isBusy } from "../../sql/sqlite/errors.js";
import type { SqlRow } from "../../sql/driver.js";
import type { ConnectionAtOnce } from "../../sql/connection-at-once.js";
import type { SqliteDatabaseLike, SqliteStatementLike } from "./sqlite-clients.js";

/** The most statements that are kept. The statements of takes differ by their number of rows. */
const MAX_STATEMENTS = 100;

export interface SqliteConnection extends Pick<ConnectionAtOnce, "transaction"> {
  readonly isInTransaction: boolean;
  query(text: string, params: readonly unknown[]): SqlRow[];
  execute(text: string, params: readonly unknown[]): number;
  /** Runs a statement without parameters and rows. */
  run(text: string): void;
  /** Rolls back if a transaction is open. Without one, SQLite would raise an error. */
  rollBack(): void;
}

/** Settings of the clients on a statement, whatever the application has set as default. */
interface StatementSettings {
  /** better-sqlite3, bun:sqlite */
  safeIntegers?(toggle: boolean): unknown;
  /** node:sqlite */
  setReadBigInts?(enabled: boolean): unknown;
  setReturnArrays?(enabled: boolean): unknown;
}

/** better-sqlite3 */
interface DatabaseSettings {
  unsafeMode?(unsafe: boolean): unknown;
}

const connections = new WeakMap<SqliteDatabaseLike, SqliteConnection>();

/** @returns the same object for the same connection. */
export function sqliteConnection(db: SqliteDatabaseLike): SqliteConnection {
  let connection = connections.get(db);
  if (connection === undefined) connections.set(db, (connection = new Connection(db)));
  return connection;
}

/** Whether a transaction is open; `undefined` if the client cannot tell. */
export function isInTransaction(db: object): boolean | undefined {
  const { inTransaction, isTransaction } = db as {
    inTransaction?: unknown;
    isTransaction?: unknown;
  };
  const isOpen = inTransaction ?? isTransaction;
  return typeof isOpen === "boolean" ? isOpen : undefined;
}

class Connection implements SqliteConnection {
  /** The most recently used statement is the last one. */
  readonly #statements = new Map<string, SqliteStatementLike>();

  constructor(private readonly db: SqliteDatabaseLike) {}

  get isInTransaction(): boolean {
    return isInTransaction(this.db) === true;
  }

  readonly query: SqliteConnection["query"] = (text, params) =>
    this.#prepare(text).all(...(params as never[])) as SqlRow[];

  readonly execute: SqliteConnection["execute"] = (text, params) =>
    Number(this.#prepare(text).run(...(params as never[])).changes);

  run(text: string): void {
    this.db.exec(text);
  }

  transaction<TValue>(decide: () => TValue, write: (value: TValue) => void): TValue {
    try {
      return this.#transact(decide, write);
    } catch (error) {
      const { unsafeMode } = this.db as DatabaseSettings;
      if (!isConnectionBusy(error) || unsafeMode === undefined) throw error;
      // The application iterates over rows, perhaps with a call for each row. SQLite can begin a
      // transaction meanwhile, but better-sqlite3 does so only in its unsafe mode.
      unsafeMode.call(this.db, true);
      try {
        return this.#transact(decide, write);
      } finally {
        unsafeMode.call(this.db, false);
      }
    }
  }

  rollBack(): void {
    if (this.isInTransaction) this.db.exec("ROLLBACK");
  }

  /** Reads take no lock for writing, so a denial waits for no process that writes. */
  #transact<TValue>(decide: () => TValue, write: (value: TValue) => void): TValue {
    this.execute("BEGIN", []);
    try {
      let value = decide();
      try {
        write(value);
      } catch (error) {
        if (!isBusy(error)) throw error;
        // Another process writes now, or has written since the read. Wait for that process, and read
        // again.
        this.rollBack();
        this.execute("BEGIN IMMEDIATE", []);
        value = decide();
        write(value);
      }
      this.execute("COMMIT", []);
      return value;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  #prepare(text: string): SqliteStatementLike {
    const known = this.#statements.get(text);
    if (known !== undefined) {
      this.#statements.delete(text);
      this.#statements.set(text, known);
      return known;
    }
    const statement = this.db.prepare(text);
    const settings = statement as StatementSettings;
    settings.safeIntegers?.(false);
    settings.setReadBigInts?.(false);
    settings.setReturnArrays?.(false);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size === MAX_STATEMENTS) this.#statements.delete(oldest!);
    this.#statements.set(text, statement);
    return statement;
  }
}

/** The connection is not free, so nothing was sent. The call tries again. */
export class SqliteBusyError extends Error {
  override readonly name = "SqliteBusyError";
  readonly code = "SQLITE_BUSY";
}

/**
 * Whether better-sqlite3 has refused to run, because the application iterates over the rows of a
 * statement.
 */
export function isConnectionBusy(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("connection is busy");
}
