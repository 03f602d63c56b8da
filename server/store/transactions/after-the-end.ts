/**
 * Lets statements into a transaction until it has ended. A connection is given back when its
 * transaction ends, and MySQL rolls back by itself at a deadlock. A statement that came after the end
 * would be committed on its own.
 */
import type { SqlConnection } from "../sql/driver.js";

export interface TransactionGate {
  readonly connection: SqlConnection;
  /**
   * Sends a statement that does not go through `connection`. After the end, rejects without running it.
   */
  send<TResult>(run: () => Promise<TResult>): Promise<TResult>;
  /** From now on, each statement rejects with this error, and so do the statements under way. */
  close(error: unknown): void;
}

export function createTransactionGate(connection: SqlConnection): TransactionGate {
  let isClosed = false;
  let close: (error: unknown) => void = () => {};
  const closed = new Promise<never>((_, reject) => (close = reject));
  closed.catch(() => {});
  const send = <TResult>(run: () => Promise<TResult>): Promise<TResult> =>
    // A client may never answer a statement of a transaction that it has ended.
    isClosed ? closed : Promise.race([run(), closed]);
  return {
    connection: {
      query: (...query) => send(() => connection.query(...query)),
      execute: (...query) => send(() => connection.execute(...query)),
    },
    send,
    close(error) {
      isClosed = true;
      close(error);
    },
  };
}
