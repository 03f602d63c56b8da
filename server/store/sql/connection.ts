/** Where the statements of a dialect run, and what locks they take there. */
import type { SqlConnection, SqlDriver } from "./driver.js";

/**
 * The lock that reads and writes take, and how long they wait for rows that other transactions have
 * locked, as far as the database offers a choice.
 *
 * The locks:
 * - `"none"`: reads do not lock. Writes leave out rows that are locked, as if they had changed.
 * - `"exclusive"`: keeps all other transactions out.
 * - `"holding"`: keeps all other transactions out, except those with `"passing"`.
 * - `"passing"`: as `"exclusive"`, but does not wait for a transaction with `"holding"`.
 *
 * The patience:
 * - `"none"`: a locked row is a conflict at once.
 * - `"brief"`: the wait is bounded.
 * - `"hurried"`: as `"brief"`, but with a shorter bound, if the database has one.
 * - `"unbounded"`: the wait has no bound of its own.
 */
export type Locking =
  /** Single statements. */
  | { readonly lock: "none"; readonly patience?: undefined }
  /**
   * Transactions that this package retries, at Serializable: a wait would end in a conflict anyway, and
   * two waits can be a deadlock.
   */
  | { readonly lock: "exclusive"; readonly patience: "none" }
  /** Transactions at READ COMMITTED, and transactions that queue for locks. */
  | { readonly lock: "exclusive"; readonly patience: "brief" }
  /** Transactions at READ COMMITTED whose end other calls wait for. */
  | { readonly lock: "exclusive"; readonly patience: "hurried" }
  /** Transactions that their owner might not retry (`using`). */
  | { readonly lock: "exclusive"; readonly patience: "unbounded" }
  /**
   * A second transaction, which waits for the rows in place of the first one, and keeps them for it
   * (`lock-turns.ts`).
   */
  | { readonly lock: "holding"; readonly patience: "unbounded" }
  /** The first transaction, for its first read. */
  | { readonly lock: "passing"; readonly patience: "unbounded" }
  /** The first transaction, after its first read. */
  | { readonly lock: "passing"; readonly patience: "none" };

/** Where a dialect's statements run. */
export interface Connection extends SqlConnection {
  readonly locking: Locking;
  /**
   * Runs `run` in a transaction of its own. Absent inside a transaction. Rejects with a
   * `NoTransactionsError` if the driver has none.
   */
  readonly transaction?:
    (<TResult>(run: (tx: Connection) => Promise<TResult>) => Promise<TResult>) | undefined;
  /** Whether the driver has no transactions. */
  readonly isSingle?: boolean;
  /** See `SqlDriver.batch`. */
  readonly batch?: SqlDriver["batch"];
}

/** Something was to be written that needs a transaction, and the driver has none. */
export class NoTransactionsError extends Error {
  override readonly name = "NoTransactionsError";

  constructor(what: string) {
    super(`${what} needs a transaction, and this driver has none; use one that keeps a connection`);
  }
}

/** A connection inside a transaction. */
export function inside(connection: SqlConnection, locking: Locking): Connection {
  return {
    query: (...query) => connection.query(...query),
    execute: (...query) => connection.execute(...query),
    locking,
  };
}
