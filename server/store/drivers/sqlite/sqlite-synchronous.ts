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
import { createSqliteTurn } from "./sqlite-turn.js";

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

  const demandFree = () => {
    if (shared.isInTransaction) {
      throw new SqliteBusyError("the application has a transaction open on the connection");
    }
  };
  const alone = <TResult>(run: () => TResult, isWanted?: () => boolean): Promise<TResult> =>
    turn.statement(() => {
      demandFree();
      return run();
    }, isWanted);
  const single: SqlDriver<SqlConnection> = {
    dialect: "sqlite",
    query: (text, params, isWanted) => alone(() => shared.query(text, params), isWanted),
    execute: (text, params, isWanted) => alone(() => shared.execute(text, params), isWanted),
    within: (tx) => tx,
    isConflict: isConnectionBusy,
  };
  const atOnce: ConnectionAtOnce = {
    query: shared.query,
    execute: shared.execute,
    inTurn(run) {
      if (!turn.isFree) return turn.statement(run);
      run();
      return undefined;
    },
    transaction(decide, write) {
      demandFree();
      return shared.transaction(decide, write);
    },
  };

  const within = (tx: TDatabase): SqlConnection => {
    if (tx === db) throw new RateLimitConfigError("tx", tx, { message: SHARED });
    return connectionOf(sqliteConnection(tx));
  };
  const transactions: SqlDriver<TDatabase> = {
    dialect: "sqlite",
    query: single.query,
    execute: single.execute,
    within,
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
  return { transactions, single, atOnce };
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
