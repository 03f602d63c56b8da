/**
 * The synchronous clients of SQLite: `better-sqlite3`, `node:sqlite` and `bun:sqlite`. The store's own
 * statements run on the connection of the application, and never while a transaction is open on it. The
 * transactions of the application run on connections of their own.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { SqlConnection, SqlDriver } from "../../sql/driver.js";
import type { ConnectionAtOnce } from "../../sql/connection-at-once.js";
import type { SqliteDatabaseLike } from "./sqlite-clients.js";
import {
  isConnectionBusy,
  isInTransaction,
  SqliteBusyError,
  type SqliteConnection,
  sqliteConnection,
} from "./sqlite-connection.js";
import { createSqliteTurn, type SqliteTurn } from "./sqlite-turn.js";

export const NO_OPEN =
  "transaction() needs a connection of its own, because other requests use this one meanwhile, " +
  "and a rollback would lose what they write; give sqliteStore the option open, a function that " +
  "opens the database once more, or use @libsql/client";

const SHARED =
  "using() takes a connection of its own that has begun a transaction, and not the connection of " +
  "the store: other requests use that one meanwhile, and a rollback would lose what they write";

export interface SynchronousDrivers<TDatabase> {
  /** Runs the application's transactions. */
  transactions: SqlDriver<TDatabase>;
  /** Runs the store's own statements. */
  single: SqlDriver<SqlConnection>;
  /** Runs the decisions of the store. */
  atOnce: ConnectionAtOnce;
}

export function synchronousDrivers<TDatabase extends SqliteDatabaseLike>(
  db: TDatabase,
  open: (() => TDatabase) | undefined,
): SynchronousDrivers<TDatabase> {
  const shared = sqliteConnection(db);
  const turn = createSqliteTurn();
  const single = ownStatements(shared, turn);
  return {
    transactions: transactionsApart(db, open, single, turn),
    single,
    atOnce: ownDecisions(shared, turn),
  };
}

function ownStatements(shared: SqliteConnection, turn: SqliteTurn): SqlDriver<SqlConnection> {
  const alone = <TResult>(run: () => TResult, isWanted?: () => boolean): Promise<TResult> =>
    turn.statement(() => {
      demandFree(shared);
      return run();
    }, isWanted);
  return {
    dialect: "sqlite",
    query: (text, params, isWanted) => alone(() => shared.query(text, params), isWanted),
    execute: (text, params, isWanted) => alone(() => shared.execute(text, params), isWanted),
    within: (tx) => tx,
    isConflict: isConnectionBusy,
  };
}

function ownDecisions(shared: SqliteConnection, turn: SqliteTurn): ConnectionAtOnce {
  return {
    query: shared.query,
    execute: shared.execute,
    inTurn(run) {
      if (!turn.isFree) return turn.statement(run);
      run();
      return undefined;
    },
    transaction(decide, write) {
      demandFree(shared);
      return shared.transaction(decide, write);
    },
  };
}

function demandFree(shared: SqliteConnection): void {
  if (shared.isInTransaction) {
    throw new SqliteBusyError("the application has a transaction open on the connection");
  }
}

/** Each transaction has a connection of its own. */
function transactionsApart<TDatabase extends SqliteDatabaseLike>(
  db: TDatabase,
  open: (() => TDatabase) | undefined,
  { query, execute }: SqlConnection,
  turn: SqliteTurn,
): SqlDriver<TDatabase> {
  return {
    dialect: "sqlite",
    query,
    execute,
    within(tx) {
      if (tx === db) throw new RateLimitConfigError("tx", tx, { message: SHARED });
      return connectionOf(sqliteConnection(tx));
    },
    isConflict: isConnectionBusy,
    transaction: (run, options) =>
      turn.transaction(options, async (bound) => {
        const tx = open?.();
        if (tx === undefined || tx === db) {
          throw new RateLimitConfigError("open", tx, "a function that opens another connection");
        }
        const connection = sqliteConnection(tx);
        try {
          connection.run("BEGIN IMMEDIATE");
          const result = await bound(run(tx));
          connection.run("COMMIT");
          return result;
        } finally {
          connection.rollBack();
          // A closed connection also refuses the statements that `run` sends after its time is over.
          tx.close();
        }
      }),
  };
}

/** The statements of a transaction that is open on a connection of its own. */
function connectionOf(connection: SqliteConnection): SqlConnection {
  const checked = <TResult>(run: () => TResult): Promise<TResult> =>
    new Promise((resolve) => {
      // Without a transaction, each statement would be committed by itself.
      if (!connection.isInTransaction) {
        throw new Error("the transaction has ended, or has not begun: run BEGIN IMMEDIATE first");
      }
      resolve(run());
    });
  return {
    query: (text, params) => checked(() => connection.query(text, params)),
    execute: (text, params) => checked(() => connection.execute(text, params)),
  };
}

/** Whether a client is synchronous and can tell whether a transaction is open. */
export function isSynchronous(db: object): db is SqliteDatabaseLike {
  const { prepare, exec } = db as Partial<SqliteDatabaseLike>;
  return (
    typeof prepare === "function" && typeof exec === "function" && isInTransaction(db) !== undefined
  );
}
