/**
 * Turns for the locks of rows, for databases in which the wait for a row outdates the snapshot of a
 * Serializable transaction. A second transaction waits in the place of the first one. The lock of the
 * second transaction keeps `using` callers out, and lets the first transaction pass, whose snapshot is
 * taken only then. This file is not in `store/transactions`, because it uses the reads of a dialect,
 * and that folder knows no dialect.
 */
import type { Row } from "../../../core/rows/row.js";
import type { RowStatements } from "../row-access.js";
import { type RowId, rowKey } from "../store.js";
import { startTimer } from "../../timers/timer.js";
import { inside } from "./connection.js";
import { boundLockWaits, type Dialect, type Statements } from "./dialect.js";
import type { SqlConnection, SqlDriver } from "./driver.js";

/** How long to wait for the turn at a row, ms. */
const TURN_WAIT = 2000;
/**
 * How long to wait for the turns at several rows, ms. Less than PostgreSQL's `deadlock_timeout`, so
 * that the wait ends before the database looks for a victim, which could be a transaction of the
 * application.
 */
const TURNS_WAIT = 500;
/**
 * For how long the second transaction keeps other transactions out, ms and in round trips. Without a
 * bound, the first transaction could wait behind a third one that waits for the second one, until a
 * time-out ends the circle. No database sees the circle, because it closes in this process.
 */
const HOLD_FOR = 50;
const HOLD_FOR_TRIPS = 3;

/**
 * Locks rows for the first transaction, when its turn has come. Resolves with the states of the rows,
 * which the first transaction has read.
 *
 * @param first the connection of the transaction that gets the locks.
 * @param single begins the second transaction.
 */
export function lockInTurn(
  { dialect, statements }: { dialect: Dialect; statements: Pick<Statements, "read"> },
  first: SqlConnection,
  single: SqlDriver,
  rows: readonly RowId[],
): Promise<Map<string, Row>> {
  return new Promise((resolve, reject) => {
    const second = single.transaction!(
      async (other) => {
        const connection = single.within(other);
        const sentAt = performance.now();
        await boundLockWaits(dialect, connection, rows.length === 1 ? TURN_WAIT : TURNS_WAIT);
        const trip = performance.now() - sentAt;
        await statements.read(inside(connection, { lock: "holding", patience: "unbounded" }), rows);
        const entered = statements.read(
          inside(first, { lock: "passing", patience: "unbounded" }),
          rows,
        );
        // Nothing waits for the end of the second transaction, because the first transaction has locked
        // the rows by then.
        entered.then(resolve, reject);
        await endOf(entered, HOLD_FOR + HOLD_FOR_TRIPS * trip);
      },
      { isolationLevel: "ReadCommitted" },
    );
    second.catch(reject);
  });
}

/** Answers the first read with these states, which saves a round trip while the rows are locked. */
export function startingWith(
  locked: Map<string, Row>,
  rows: readonly RowId[],
  statements: RowStatements,
): RowStatements {
  const ids = new Set(rows.map(rowKey));
  let known: typeof locked | undefined = locked;
  return {
    ...statements,
    read(wanted) {
      const states = wanted.every((row) => ids.has(rowKey(row))) ? known : undefined;
      known = undefined;
      return states === undefined ? statements.read(wanted) : Promise.resolve(states);
    },
  };
}

/** Resolves when the work has ended, however it did, and after `ms` at the latest. */
function endOf(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = startTimer(resolve, ms);
    const end = () => {
      timer.stop();
      resolve();
    };
    work.then(end, end);
  });
}
