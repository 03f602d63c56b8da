/**
 * The connections and transactions of a SQL store. In transactions of its own, the store writes several
 * rows. Calls of the limiter join transactions of the application.
 */
import type { RowAccess, RowStatements } from "../row-access.js";
import type { JoinedStore, RowId } from "../store.js";
import { createTransactionGate } from "../transactions/after-the-end.js";
import { TransactionStore } from "../transactions/decisions-inside.js";
import { type Connection, inside, type Locking, NoTransactionsError } from "./connection.js";
import type { Dialect } from "./dialect.js";
import type { DriverTransactionOptions, SqlConnection, SqlDriver } from "./driver.js";
import { lockInTurn, startingWith } from "./lock-turns.js";
import type { CheckedTable } from "./table/checked-table.js";
import { writeGroups } from "./write-groups.js";

type JoinedList = NonNullable<JoinedStore["list"]>;
type JoinedEarliest = NonNullable<JoinedStore["earliest"]>;

const UNLOCKED: Locking = { lock: "none" };
const AT_ONCE: Locking = { lock: "exclusive", patience: "none" };
const HURRIEDLY: Locking = { lock: "exclusive", patience: "hurried" };
const BRIEFLY: Locking = { lock: "exclusive", patience: "brief" };
const PATIENTLY: Locking = { lock: "exclusive", patience: "unbounded" };
const PASSING: Locking = { lock: "passing", patience: "none" };

export interface SqlTransactionsOptions<TTransaction> extends Pick<
  RowAccess,
  "isConflict" | "wrap"
> {
  /** Runs the application's transactions. */
  driver: SqlDriver<TTransaction>;
  /** Runs the statements and transactions of the store itself. */
  single: SqlDriver;
  dialect: Dialect;
  table: CheckedTable;
}

export class SqlTransactions<TTransaction> {
  /** Where the store's own statements run, each by itself. */
  readonly own: Connection;
  /** See `TransactionAccess.joinInTurn`. */
  readonly joinInTurn:
    ((tx: TTransaction, rows: readonly RowId[]) => Promise<TransactionStore>) | undefined;

  constructor(private readonly options: SqlTransactionsOptions<TTransaction>) {
    const { single, dialect } = options;
    const isSingle = single.transaction === undefined;
    this.own = {
      ...inside(single, UNLOCKED),
      isSingle,
      batch: single.batch?.bind(single),
      transaction: (run) =>
        this.#transact(dialect.hasLevels ? "ReadCommitted" : "Serializable", UNLOCKED, run),
    };
    const hasTurns = !isSingle && dialect.mayOutdateSnapshots;
    this.joinInTurn = hasTurns ? (tx, rows) => this.#joinInTurn(tx, rows) : undefined;
  }

  /** The writes of single statements. */
  readonly write: RowAccess["write"] = (groups, isWanted) =>
    this.#write(this.own, groups, isWanted);

  /** See `RowAccess.locked`. */
  locked<TResult>(
    run: (statements: RowStatements) => Promise<TResult>,
    isHurried: boolean,
  ): Promise<TResult> {
    const locking = isHurried ? HURRIEDLY : BRIEFLY;
    return this.#transact("ReadCommitted", locking, (tx) => run(this.#statements(tx)));
  }

  /** Runs `run` as `locked` does, but at Serializable. */
  serializable<TResult>(run: (statements: RowStatements) => Promise<TResult>): Promise<TResult> {
    return this.#transact("Serializable", AT_ONCE, (tx) => run(this.#statements(tx)));
  }

  /** Begins a transaction of the application. */
  begin<TResult>(
    run: (tx: TTransaction) => Promise<TResult>,
    options: Omit<DriverTransactionOptions, "isolationLevel">,
  ): Promise<TResult> {
    const { driver } = this.options;
    return this.#leaving(
      driver.transaction?.(run, { ...options, isolationLevel: "Serializable" }) ??
        Promise.reject(new NoTransactionsError("transaction()")),
    );
  }

  /** Joins a transaction whose owner might not retry. */
  using(tx: TTransaction): TransactionStore {
    return this.#join(tx, PATIENTLY);
  }

  /** Joins a transaction that this package retries. @param queued whether to queue for locks */
  join(tx: TTransaction, queued: boolean): TransactionStore {
    const mayQueue = queued && !this.options.table.statements.waitingOutdatesSnapshot;
    return this.#join(tx, mayQueue ? BRIEFLY : AT_ONCE);
  }

  async #joinInTurn(tx: TTransaction, rows: readonly RowId[]): Promise<TransactionStore> {
    const { driver, single, dialect, table } = this.options;
    const { statements } = table;
    // Only now it is known that the engine needs no turns. The transaction then waits for its rows
    // itself.
    if (!statements.waitingOutdatesSnapshot) return this.#join(tx, BRIEFLY);
    const states = await lockInTurn({ dialect, statements }, driver.within(tx), single, rows);
    return this.#join(tx, PASSING, (joined) => startingWith(states, rows, joined));
  }

  /** @param replaced statements in place of those of the dialect */
  #join(
    tx: TTransaction,
    locking: Locking,
    replaced: (joined: RowStatements) => RowStatements = (joined) => joined,
  ): TransactionStore {
    const { driver, table, isConflict, wrap } = this.options;
    const gate = createTransactionGate(driver.within(tx));
    const joined = replaced(this.#statements(inside(gate.connection, locking)));
    const list: JoinedList = (...page) => table.statements.list(gate.connection, ...page);
    const earliest: JoinedEarliest = (...of) => table.statements.earliest(gate.connection, ...of);
    return new TransactionStore(joined, { isConflict, wrap }, { list, earliest }, gate);
  }

  /**
   * The statements of a transaction. The first statement of a transaction is a read, which checks the
   * table if needed.
   */
  #statements(connection: Connection): RowStatements {
    return {
      read: (rows) => this.options.table.read(connection, rows),
      write: (groups, isWanted) => this.#write(connection, groups, isWanted),
    };
  }

  #write(connection: Connection, ...[groups, isWanted]: Parameters<RowAccess["write"]>) {
    const { table, dialect } = this.options;
    return writeGroups(table.statements, connection, groups, dialect.errors.isConflict, isWanted);
  }

  #transact<TResult>(
    isolationLevel: DriverTransactionOptions["isolationLevel"],
    locking: Locking,
    run: (connection: Connection) => Promise<TResult>,
  ): Promise<TResult> {
    const { single } = this.options;
    return this.#leaving(
      single.transaction?.((tx) => run(inside(single.within(tx), locking)), { isolationLevel }) ??
        Promise.reject(new NoTransactionsError("this write of several rows")),
    );
  }

  #leaving<TResult>(result: Promise<TResult>): Promise<TResult> {
    result.catch((error: unknown) => this.#leaveReadOnly(error));
    return result;
  }

  /**
   * After a transaction on a standby, clients give its connection back to their pool. A statement that
   * fails as read-only on that connection makes the driver or the client close the connection.
   */
  #leaveReadOnly(error: unknown): void {
    const { driver, single, dialect, table } = this.options;
    const { readOnlyProbe: probe } = dialect;
    if (probe === undefined || !probe.isDue(error)) return;
    // The pool lends the connection that came back last. `single` goes first, because its driver may
    // close such a connection itself.
    for (const each of new Set<SqlConnection>([single, driver])) {
      each.query(probe.text(table.name), []).catch(() => {});
    }
  }
}
