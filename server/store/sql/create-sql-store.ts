/** A store on one table of a SQL database: a dialect's statements, run by a driver. */
import { periodicLine, periodicLines } from "./current-window.js";
import type { PeriodicConfig } from "../../../core/config.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { createCommitAtOnce } from "../group-commit/commit-at-once.js";
import { createCommitPerTurn } from "../group-commit/commit-per-turn.js";
import { createGroupCommit } from "../group-commit/group-commit.js";
import type { RowAccess, RowStatements, TakeLine } from "../row-access.js";
import { retryConflicts } from "../retry-conflicts.js";
import type { RateLimitStore, RowId } from "../store.js";
import { createTransactionRunner } from "../transactions/owned-by-store.js";
import { createUsing } from "../transactions/owned-by-caller.js";
import { createTransactionStore, type TransactionStore } from "../transactions/decisions-inside.js";
import { type Connection, inside, type Locking, NoTransactionsError } from "./connection.js";
import type { ConnectionAtOnce } from "./connection-at-once.js";
import { boundLockWaits } from "./dialect.js";
import { DIALECTS } from "./dialects.js";
import type { SqlConnection, SqlDriver } from "./driver.js";
import { lockInTurn, startingWith } from "./lock-turns.js";
import { SqlOverrideTable } from "./override-table.js";
import { pruneSql } from "./prune.js";
import type { TableName } from "./sql.js";
import { storeError } from "./store-error.js";
import { CheckedTable } from "./table/checked-table.js";
import { createTransactionGate } from "../transactions/after-the-end.js";
import { writeGroups } from "./write-groups.js";

export interface SqlStoreOptions {
  table: TableName;
  /** See `PrismaStoreOptions.isolation`. */
  isolation?: "serializable" | undefined;
  /** Whether the database is across a network, although it is SQLite. */
  isRemote?: boolean;
}

/** How long a statement of a Serializable transaction may wait for one lock, ms. */
const LOCK_WAIT = 1000;

const AT_ONCE: Locking = { lock: "exclusive", patience: "none" };
const HURRIEDLY: Locking = { lock: "exclusive", patience: "hurried" };
const BRIEFLY: Locking = { lock: "exclusive", patience: "brief" };

/**
 * @param driver runs the application's transactions.
 * @param single runs the statements and transactions of the store itself. @default the same driver
 * @param atOnce the connection of a synchronous client of SQLite, on which decisions take one tick.
 * @throws RateLimitConfigError when `isolation` is neither `"serializable"` nor left out, or the
 * dialect is not known, or a Serializable `single` has no transactions.
 */
export function createSqlStore<TTransaction>(
  driver: SqlDriver<TTransaction>,
  { table: name, isolation, isRemote }: SqlStoreOptions,
  single: SqlDriver = driver,
  atOnce?: ConnectionAtOnce,
): RateLimitStore<TTransaction> {
  validate(driver, isolation, atOnce !== undefined || single.transaction !== undefined);
  const serializable = isolation === "serializable";
  const { transaction } = single;
  const dialect = DIALECTS[driver.dialect];
  const table = new CheckedTable(name, dialect, single, ({ take, takeOne, mixesTerms }) => {
    access.take =
      take && ((lines, options) => take(single, periodicLines(lines, options.now), options));
    access.takeOne =
      takeOne &&
      ((line, options) =>
        // Nearly all lines are as they have to be.
        typeof line.terms.config.period === "number"
          ? takeOne(single, line as TakeLine<PeriodicConfig>, options)
          : takeOne(single, periodicLine(line, options.now), options));
    access.mixesTerms = mixesTerms;
  });
  const { clock } = table;
  const isConflict = (error: unknown) =>
    dialect.errors.isConflict(error) ||
    (driver.isConflict?.(error) ?? false) ||
    (single.isConflict?.(error) ?? false);
  const wrap = (error: unknown) => {
    const wrapped = storeError(error, name, dialect, isSilent);
    table.noteError(wrapped);
    return wrapped;
  };

  /**
   * After a transaction on a standby, clients give its connection back to their pool. A statement that
   * fails on it as read-only makes the driver or the client close it.
   */
  const leaveReadOnly = (error: unknown) => {
    const { readOnlyProbe: probing } = dialect;
    if (probing === undefined || !probing.isDue(error)) return;
    // The pool lends the connection that came back last. A driver that closes it goes first.
    for (const each of new Set<SqlConnection>([single, driver])) {
      each.query(probing.text(name), []).catch(() => {});
    }
  };
  const leaving = <TResult>(result: Promise<TResult>): Promise<TResult> => {
    result.catch(leaveReadOnly);
    return result;
  };

  const whyLate = (): string => {
    if (!isSilent()) return single.isExhausted?.() ? LENT : "";
    // Some clients do not tell. A file and statements over HTTP have no pool.
    const hasPool = !dialect.isFile && driver.transaction !== undefined;
    return hasPool && single.isExhausted === undefined ? MAYBE_LENT : "";
  };
  const isSilent = () => groupCommit.isSilentSince?.(Infinity) ?? false;

  /** The statements of a transaction. Each of them begins with a read. */
  const statements = (connection: Connection): RowStatements => ({
    read: (rows) => table.read(connection, rows),
    write: (groups, isWanted) =>
      writeGroups(table.statements, connection, groups, dialect.errors.isConflict, isWanted),
  });
  const transact = <TResult>(
    isolationLevel: "Serializable" | "ReadCommitted",
    locking: Locking,
    run: (connection: Connection) => Promise<TResult>,
  ) =>
    leaving(
      single.transaction?.((tx) => run(inside(single.within(tx), locking)), { isolationLevel }) ??
        Promise.reject(new NoTransactionsError("this write of several rows")),
    );
  const own: Connection = {
    ...inside(single, { lock: "none" }),
    isSingle: transaction === undefined,
    batch: single.batch?.bind(single),
    transaction: (run) =>
      transact(dialect.hasLevels ? "ReadCommitted" : "Serializable", { lock: "none" }, run),
  };
  /** @param replaced statements in place of those of the dialect */
  function join(
    tx: TTransaction,
    locking: Locking,
    replaced?: (joined: RowStatements) => RowStatements,
  ): TransactionStore {
    const gate = createTransactionGate(driver.within(tx));
    const joined = statements(inside(gate.connection, locking));
    return createTransactionStore(replaced?.(joined) ?? joined, { isConflict, wrap }, gate.close);
  }

  async function joinInTurn(tx: TTransaction, rows: readonly RowId[]) {
    // Known only now. The transaction waits for its rows then.
    if (!table.statements.waitingOutdatesSnapshot) return join(tx, BRIEFLY);
    const states = await lockInTurn(
      { dialect, statements: table.statements },
      driver.within(tx),
      single,
      rows,
    );
    return join(tx, { lock: "passing", patience: "none" }, (joined) =>
      startingWith(states, rows, joined),
    );
  }

  const locked: RowAccess["locked"] = (run, isHurried) => {
    return serializable
      ? transact("Serializable", AT_ONCE, (tx) => run(statements(tx)))
      : transact("ReadCommitted", isHurried ? HURRIEDLY : BRIEFLY, (tx) => run(statements(tx)));
  };

  const probe: RowAccess["probe"] = (sent) => {
    const isWanted = () => {
      sent();
      return true;
    };
    return single.query("SELECT 1", [], isWanted);
  };

  const access: Writable<RowAccess, "take" | "takeOne" | "mixesTerms"> = {
    prepare: table.prepare,
    read: (rows) => table.statements.read(own, rows),
    write: (groups, isWanted) =>
      writeGroups(table.statements, own, groups, dialect.errors.isConflict, isWanted),
    // They are known when the table was checked.
    take: undefined,
    takeOne: undefined,
    mixesTerms: false,
    locked: transaction && (serializable || dialect.hasRowLocks) ? locked : undefined,
    isConflict,
    wrap,
    serializable,
    // Two concurrent Serializable transactions would conflict over the pages that they share.
    maxInFlight: serializable ? 1 : dialect.maxInFlight,
    // A file is never silent. What has no answer waits for a transaction of this process.
    probe: dialect.isFile && isRemote !== true ? undefined : probe,
    isExhausted: single.isExhausted?.bind(single),
  };
  const groupCommit =
    atOnce === undefined
      ? (requestsOwnIo() ? createCommitPerTurn : createGroupCommit)(access)
      : createCommitAtOnce(access, {
          inTurn: atOnce.inTurn,
          transact: dialect.transactAtOnce!(name, clock, atOnce),
        });

  /** What only reads can meet a conflict, too: on SQLite, and at Serializable. */
  async function reading<TResult>(read: () => Promise<TResult>): Promise<TResult> {
    try {
      return await retryConflicts(() => table.checked(read), { isConflict });
    } catch (error) {
      throw wrap(error);
    }
  }
  const list: RateLimitStore["list"] = (...page) =>
    reading(() => table.statements.list(single, ...page));

  const { onPoolError = driver.onPoolError } = single;
  return {
    ...groupCommit,
    ...(onPoolError && { onPoolError }),
    clock: clock.now,
    clockBehind: () => clock.behind(),
    clockAhead: () => clock.ahead(),
    overrides: new SqlOverrideTable({
      dialect,
      connection: single,
      limits: name,
      clock,
      within: (tx) => driver.within(tx as TTransaction),
      isConflict,
    }),
    list,
    async *names() {
      let last: string | undefined;
      const next = () => reading(() => table.statements.nextName(single, last));
      while ((last = await next()) !== undefined) yield last;
    },
    async *prune(terms) {
      try {
        await reading(async () => {});
        const { apply } = groupCommit;
        yield* pruneSql(
          {
            dialect,
            table: name,
            connection: own,
            store: { apply, list },
            isConflict,
          },
          terms,
        );
      } catch (error) {
        throw wrap(error);
      }
    },
    using: createUsing<TTransaction>({
      join: (tx) => join(tx, { lock: "exclusive", patience: "unbounded" }),
      endsTransaction: (error) => dialect.conflictEndsTransaction && isConflict(error),
    }),
    whyLate,
    transaction: createTransactionRunner<TTransaction>({
      whyLate,
      transact: (run, options) =>
        table.checked(() =>
          leaving(
            driver.transaction?.(run, { ...options, isolationLevel: "Serializable" }) ??
              Promise.reject(new NoTransactionsError("transaction()")),
          ),
        ),
      prepare: (tx) => boundLockWaits(dialect, driver.within(tx), LOCK_WAIT),
      join: (tx, queued) =>
        join(tx, queued && !table.statements.waitingOutdatesSnapshot ? BRIEFLY : AT_ONCE),
      joinInTurn: transaction && dialect.mayOutdateSnapshots ? joinInTurn : undefined,
      defaults: driver.transactionDefaults,
      isConflict,
      wrap,
    }),
  };
}

/** `T` with some fields that can be set. */
type Writable<T, TKey extends keyof T> = Omit<T, TKey> & { -readonly [K in TKey]: T[K] };

const LENT =
  "; all connections of the pool are lent: hold them for a shorter time, or let the pool have more";
const MAYBE_LENT = "; the database is silent, or the application holds all connections of its pool";

function validate(
  driver: Pick<SqlDriver, "dialect">,
  isolation: SqlStoreOptions["isolation"],
  hasTransactions: boolean,
): void {
  if (!Object.hasOwn(DIALECTS, driver.dialect)) {
    const known = Object.keys(DIALECTS).join(", ");
    throw new RateLimitConfigError("the driver's dialect", driver.dialect, `one of ${known}`);
  }
  if (isolation !== undefined && isolation !== "serializable") {
    throw new RateLimitConfigError("isolation", isolation, '"serializable", or not given');
  }
  if (isolation === "serializable" && !hasTransactions) {
    throw new RateLimitConfigError(
      "isolation",
      isolation,
      "left out: the driver has no transactions",
    );
  }
}
