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
  if (connection === undefined) connections.set(db, (connection = connect(db)));
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

function connect(db: SqliteDatabaseLike): SqliteConnection {
  const statements = new Map<string, SqliteStatementLike>();

  function prepare(text: string): SqliteStatementLike {
    const known = statements.get(text);
    if (known !== undefined) {
      // The most recently used is the last one.
      statements.delete(text);
      statements.set(text, known);
      return known;
    }
    const statement = db.prepare(text);
    const settings = statement as StatementSettings;
    settings.safeIntegers?.(false);
    settings.setReadBigInts?.(false);
    settings.setReturnArrays?.(false);
    const [oldest] = statements.keys();
    if (statements.size === MAX_STATEMENTS) statements.delete(oldest!);
    statements.set(text, statement);
    return statement;
  }

  /** Reads take no lock for writing, so a denial waits for no process that writes. */
  function transact<TValue>(decide: () => TValue, write: (value: TValue) => void): TValue {
    connection.execute("BEGIN", []);
    try {
      let value = decide();
      try {
        write(value);
      } catch (error) {
        if (!isBusy(error)) throw error;
        // Another process writes now, or has written since the read. Wait for that process, and read
        // again.
        connection.rollBack();
        connection.execute("BEGIN IMMEDIATE", []);
        value = decide();
        write(value);
      }
      connection.execute("COMMIT", []);
      return value;
    } catch (error) {
      connection.rollBack();
      throw error;
    }
  }

  const connection: SqliteConnection = {
    get isInTransaction() {
      return isInTransaction(db) === true;
    },
    query: (text, params) => prepare(text).all(...(params as never[])) as SqlRow[],
    execute: (text, params) => Number(prepare(text).run(...(params as never[])).changes),
    run: (text) => void db.exec(text),
    transaction(decide, write) {
      try {
        return transact(decide, write);
      } catch (error) {
        const { unsafeMode } = db as DatabaseSettings;
        if (!isConnectionBusy(error) || unsafeMode === undefined) throw error;
        // The application iterates over rows, perhaps with a call for each row. SQLite can begin a
        // transaction meanwhile, but better-sqlite3 does so only in its unsafe mode.
        unsafeMode.call(db, true);
        try {
          return transact(decide, write);
        } finally {
          unsafeMode.call(db, false);
        }
      }
    },
    rollBack() {
      if (connection.isInTransaction) db.exec("ROLLBACK");
    },
  };
  return connection;
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
