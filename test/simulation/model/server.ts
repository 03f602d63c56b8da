/** The interface between the network and a model database, and what the models share. */
import type { ModelRows } from "./rows.js";

/** The answer to a statement. */
export interface Answer {
  rows: Record<string, unknown>[];
  rowCount: number;
  /** The first word of the command that was carried out. */
  command: string;
}

/** The server's side of one connection. */
export interface ModelSession {
  readonly isInTransaction: boolean;
  /** @param sentAt when the client has sent the statement, ms of the timeline. */
  query(text: string, params: readonly unknown[], sentAt?: number): Promise<Answer>;
  /** The connection is gone: its transaction is rolled back. */
  close(): void;
}

export interface ModelServer {
  readonly rows: ModelRows;
  isReadOnly: boolean;
  connect(): ModelSession;
  /**
   * Locks a row as a transaction of another application would. @returns a function that releases the
   * lock.
   */
  hold(id: string): () => void;
}

/** Carries a statement out, in a transaction. */
export type Statement<TTransaction> = (
  tx: TTransaction,
  params: readonly unknown[],
) => Promise<Answer>;

/** The answer of a statement that returns rows. */
export function answer(rows: Record<string, unknown>[]): Answer {
  return { rows, rowCount: rows.length, command: "SELECT" };
}

/** Interprets each text once. @param understand gets the text with single spaces. */
export function byText<TMeaning>(
  understand: (text: string) => TMeaning,
): (text: string) => TMeaning {
  const known = new Map<string, TMeaning>();
  return (text) => {
    let meaning = known.get(text);
    if (meaning === undefined) {
      meaning = understand(text.replaceAll(/\s+/g, " ").trim());
      known.set(text, meaning);
    }
    return meaning;
  };
}
