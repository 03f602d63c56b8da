/** A connection of a client that answers at once. */
import type { SqlRow } from "./driver.js";

export interface StatementsAtOnce {
  query(text: string, params: readonly unknown[]): SqlRow[];
  execute(text: string, params: readonly unknown[]): unknown;
}

/** A connection of a synchronous client. */
export interface ConnectionAtOnce extends StatementsAtOnce {
  /** See `TickRunner.inTurn`. */
  inTurn(run: () => void): Promise<void> | undefined;
  /**
   * Runs two functions without an `await` in one transaction, which holds no lock for writing before
   * `write`. Both functions may run twice, and the last run counts.
   *
   * @throws a conflict if the connection is not free, or another process writes.
   */
  transaction<TValue>(decide: () => TValue, write: (value: TValue) => void): TValue;
}
