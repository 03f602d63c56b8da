/**
 * Transactions of a store on a connection that it shares with the application. On a synchronous
 * client, a transaction that is open during an `await` also gets the statements that the
 * application runs meanwhile, and a rollback would lose them. So no transaction is open during an
 * `await`.
 *
 * Each statement runs in a transaction that is rolled back at once. Before it, the statements
 * before it run again, and must give the same results as the first time. In the end all of them run
 * once more, and are committed. There are few of them: a read, and up to three writes.
 */
import { WriteConflictError } from "../retry-conflicts.js";
import { CLOCK_COLUMN } from "../sql/table/database-clock.js";
import type { SqlConnection } from "../sql/driver.js";
import type { SqliteConnection } from "./sqlite-connection.js";

/** Runs a function without an `await` in it, when no other transaction of the store is open. */
type Alone = <TResult>(run: () => TResult, isWanted?: () => boolean) => Promise<TResult>;

/** A statement that has run, and its result. */
interface Step {
  run(): unknown;
  result: string;
}

export async function replayTransaction<TResult>(
  connection: SqliteConnection,
  alone: Alone,
  run: (tx: SqlConnection) => Promise<TResult>,
): Promise<TResult> {
  const steps: Step[] = [];

  function inTransaction<TValue>(body: () => TValue): TValue {
    connection.run("BEGIN IMMEDIATE");
    try {
      for (const step of steps) {
        if (comparable(step.run()) !== step.result) throw new WriteConflictError();
      }
      return body();
    } finally {
      connection.rollBack();
    }
  }

  let isWanted: (() => boolean) | undefined;
  const add = <TValue>(statement: () => TValue, wanted = isWanted): Promise<TValue> => {
    isWanted = wanted;
    return alone(() => {
      const result = inTransaction(statement);
      steps.push({ run: statement, result: comparable(result) });
      return result;
    }, wanted);
  };

  const result = await run({
    query: (text, params, wanted) => add(() => connection.query(text, params), wanted),
    execute: (text, params, wanted) => add(() => connection.execute(text, params), wanted),
  });
  // Only this step writes.
  if (steps.length > 0) await alone(() => inTransaction(() => connection.run("COMMIT")), isWanted);
  return result;
}

/** The database's clock is left out, because it goes on between two runs. */
function comparable(result: unknown): string {
  return JSON.stringify(result, (key, value: unknown) => (key === CLOCK_COLUMN ? null : value));
}
