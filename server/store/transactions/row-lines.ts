/**
 * Lines for rows, in this process: a transaction that has lost a row stands in line for it, and
 * newcomers give way. Otherwise a row that is busy all the time goes to whichever transaction comes
 * at the right instant, and others wait for seconds.
 */
import { createSemaphore, type Semaphore } from "./semaphore.js";
import { rowKey, type RowId } from "../store.js";

export interface RowLines {
  /** Whether a transaction is at the head of the row's line, or waits in it. */
  has(row: RowId): boolean;
  /**
   * Resolves at the head of the lines of all these rows, with a function that leaves them. Rejects
   * with the error of `late` if that takes longer than `ms`.
   *
   * @param rows in the order of `compareLockOrder`, so that two transactions cannot wait for each
   * other.
   */
  enter(rows: readonly RowId[], ms: number, late: () => Error): Promise<() => void>;
}

interface Line {
  turns: Semaphore;
  /** How many transactions are in the line, the one at its head included. */
  length: number;
}

export function createRowLines(): RowLines {
  const lines = new Map<string, Line>();

  async function enterOne(row: RowId, ms: number, late: () => Error): Promise<() => void> {
    const id = rowKey(row);
    const line = lines.get(id) ?? { turns: createSemaphore(1), length: 0 };
    lines.set(id, line);
    line.length++;
    const leave = () => {
      line.length--;
      if (line.length === 0) lines.delete(id);
    };
    const giveTurn = await line.turns.acquire(ms, late).catch((error: unknown) => {
      leave();
      throw error;
    });
    return () => {
      leave();
      giveTurn();
    };
  }

  return {
    has: (row) => lines.size > 0 && lines.has(rowKey(row)),
    async enter(rows, ms, late) {
      const until = performance.now() + ms;
      const entered: (() => void)[] = [];
      const leaveAll = () => {
        for (const leave of entered) leave();
      };
      try {
        for (const row of rows) {
          entered.push(await enterOne(row, Math.max(0, until - performance.now()), late));
        }
      } catch (error) {
        leaveAll();
        throw error;
      }
      return leaveAll;
    },
  };
}
