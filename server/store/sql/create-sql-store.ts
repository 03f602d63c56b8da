/** A store on one table of a SQL database: a dialect's statements, run by a driver. */
import type { RateLimitState } from "../../../core/calculate.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { createGroupCommit } from "../group-commit/group-commit.js";
import type { RowAccess, RowStatements } from "../row-access.js";
import { type RateLimitStore, type RowId, rowKey } from "../store.js";
import { createTransactionRunner } from "../transaction-runner.js";
import { createTransactionStore } from "../transaction-store.js";
import { createDatabaseClock } from "./database-clock.js";
import { checkTable } from "./check-table.js";
import { type Connection, type CreateDialect, NoTransactionsError } from "./dialect.js";
import type { DialectName, SqlConnection, SqlDriver } from "./driver.js";
import { mysql } from "./mysql.js";
import { postgresql } from "./postgresql.js";
import { pruneSql } from "./prune.js";
import { sqlite } from "./sqlite.js";
import type { TableName } from "./sql.js";
import { isMissingTable, storeError } from "./store-error.js";
import { writeGroups } from "./write-groups.js";

export interface SqlStoreOptions {
  table: TableName;
  /** See `PrismaStoreOptions.isolation`. */
  isolation?: "serializable" | undefined;
}

const DIALECTS: Record<DialectName, CreateDialect> = { postgresql, mysql, sqlite };

/** How long a statement of a Serializable transaction may wait for one lock, ms. */
const LOCK_WAIT = 1000;
/** How long to wait for a row's turn, ms. */
const TURN_WAIT = 2000;
/**
 * The same for several rows. Less than PostgreSQL's `deadlock_timeout`, so that the wait ends
 * before the database looks for a victim, which could be the application's.
 */
const TURNS_WAIT = 500;

/**
 * @param driver runs the application's transactions.
 * @param single runs the statements and transactions of the store itself. @default the same driver
 * @throws RateLimitConfigError when `isolation` is neither `"serializable"` nor left out, or the
 * dialect is not known, or a Serializable `single` has no transactions.
 */
export function createSqlStore<TTransaction>(
  driver: SqlDriver<TTransaction>,
  { table, isolation }: SqlStoreOptions,
  single: SqlDriver = driver,
): RateLimitStore<TTransaction> {
  if (!Object.hasOwn(DIALECTS, driver.dialect)) {
    const known = Object.keys(DIALECTS).join(", ");
    throw new RateLimitConfigError("the driver's dialect", driver.dialect, `one of ${known}`);
  }
  if (isolation !== undefined && isolation !== "serializable") {
    throw new RateLimitConfigError("isolation", isolation, '"serializable", or not given');
  }
  const serializable = isolation === "serializable";
  const { transaction } = single;
  if (serializable && transaction === undefined) {
    throw new RateLimitConfigError(
      "isolation",
      isolation,
      "left out: the driver has no transactions",
    );
  }
  const clock = createDatabaseClock();
  const dialect = DIALECTS[driver.dialect](table, clock);
  const isConflict = (error: unknown) =>
    dialect.isConflict(error) ||
    (driver.isConflict?.(error) ?? false) ||
    (single.isConflict?.(error) ?? false);
  const wrap = (error: unknown) => {
    const wrapped = storeError(error, table);
    if (isMissingTable(wrapped)) isChecked = false;
    return wrapped;
  };

  const inside = (connection: SqlConnection, onLocked: Connection["onLocked"]): Connection => ({
    query: (...query) => connection.query(...query),
    execute: (...query) => connection.execute(...query),
    onLocked,
  });
  /** The statements of a transaction. Each of them begins with a read. */
  const statements = (connection: Connection): RowStatements => ({
    read: (rows) =>
      isChecked
        ? dialect.read(connection, rows)
        : check(connection).then(() => dialect.read(connection, rows)),
    write: (groups) => writeGroups(dialect, connection, groups),
  });
  const transact = <TResult>(
    isolationLevel: "Serializable" | "ReadCommitted",
    onLocked: Connection["onLocked"],
    run: (connection: Connection) => Promise<TResult>,
  ) =>
    single.transaction?.((tx) => run(inside(single.within(tx), onLocked)), { isolationLevel }) ??
    Promise.reject(new NoTransactionsError("this write of several rows"));
  const own: Connection = {
    ...inside(single, "skip"),
    isSingle: transaction === undefined,
    // SQLite has no other level than Serializable.
    transaction: (run) =>
      transact(dialect.hasRowLocks ? "ReadCommitted" : "Serializable", "skip", run),
  };
  const join = (tx: TTransaction, onLocked: Connection["onLocked"]) =>
    createTransactionStore(statements(inside(driver.within(tx), onLocked)), { isConflict, wrap });

  let isChecked = false;
  let checking: Promise<void> | undefined;
  /** Runs once; after a failure, and after the table was dropped, the next call runs it again. */
  async function check(connection: SqlConnection): Promise<void> {
    const version = await checkTable(driver.dialect, connection, table, clock);
    dialect.prepare?.(version);
    isChecked = true;
  }

  const boundLockWaits = async (connection: SqlConnection, ms: number) => {
    if (dialect.boundLockWaits) await connection.execute(dialect.boundLockWaits(ms), []);
  };

  /**
   * Locks rows in turn with other transactions, although the wait for a row would outdate the
   * snapshot of a Serializable transaction. A second transaction waits instead. Its lock keeps
   * `using` callers out, and lets the first transaction pass, whose snapshot is taken only then.
   */
  const lockInTurn = (tx: TTransaction, rows: readonly RowId[]) =>
    new Promise<Map<string, RateLimitState>>((resolve, reject) => {
      const second = single.transaction!(
        async (other) => {
          const connection = single.within(other);
          await boundLockWaits(connection, rows.length === 1 ? TURN_WAIT : TURNS_WAIT);
          await dialect.read(inside(connection, "hold"), rows);
          // Nothing waits for the end of the second transaction, because the rows are locked now.
          resolve(await dialect.read(inside(driver.within(tx), "enter"), rows));
        },
        { isolationLevel: "ReadCommitted" },
      );
      second.catch(reject);
    });

  async function joinInTurn(tx: TTransaction, rows: readonly RowId[]) {
    let locked: Map<string, RateLimitState> | undefined = await lockInTurn(tx, rows);
    const ids = new Set(rows.map(rowKey));
    const joined = statements(inside(driver.within(tx), "fail"));
    const read: typeof joined.read = (wanted) => {
      // The first read is already there. It saves a round trip while the rows are locked.
      const known = wanted.every((row) => ids.has(rowKey(row))) ? locked : undefined;
      locked = undefined;
      return known === undefined ? joined.read(wanted) : Promise.resolve(known);
    };
    return createTransactionStore({ ...joined, read }, { isConflict, wrap });
  }

  const prepare = (): Promise<void> | undefined =>
    isChecked ? undefined : (checking ??= check(single).finally(() => (checking = undefined)));
  const grounded = async <TResult>(run: () => Promise<TResult>): Promise<TResult> => {
    await prepare();
    return run();
  };

  const locked: RowAccess["locked"] = (run) =>
    serializable
      ? transact("Serializable", "fail", (tx) => run(statements(tx)))
      : transact("ReadCommitted", "wait briefly", (tx) => run(statements(tx)));

  const groupCommit = createGroupCommit({
    prepare,
    read: (rows) => dialect.read(own, rows),
    write: (groups) => writeGroups(dialect, own, groups),
    take: (...take) => dialect.take(single, ...take),
    locked: transaction && (serializable || dialect.hasRowLocks) ? locked : undefined,
    isConflict,
    wrap,
    serializable,
    // Two concurrent Serializable transactions would conflict over the pages that they share.
    maxInFlight: serializable ? 1 : dialect.maxInFlight,
  });
  const list: RateLimitStore["list"] = (name, after, count) =>
    grounded(() => dialect.list(single, name, after, count)).catch((error: unknown) => {
      throw wrap(error);
    });

  return {
    ...groupCommit,
    clock: clock.now,
    list,
    async *names() {
      try {
        await grounded(async () => {});
        let name = await dialect.nextName(single, undefined);
        while (name !== undefined) {
          yield name;
          name = await dialect.nextName(single, name);
        }
      } catch (error) {
        throw wrap(error);
      }
    },
    async *prune(terms) {
      try {
        await grounded(async () => {});
        const { apply } = groupCommit;
        yield* pruneSql(
          {
            dialectName: driver.dialect,
            table,
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
    using: (tx) => join(tx, "wait"),
    transaction: createTransactionRunner<TTransaction>({
      transact: (run, options) =>
        grounded(
          () =>
            driver.transaction?.(run, { ...options, isolationLevel: "Serializable" }) ??
            Promise.reject(new NoTransactionsError("transaction()")),
        ),
      prepare: (tx) => boundLockWaits(driver.within(tx), LOCK_WAIT),
      join: (tx, queued) =>
        join(tx, queued && !dialect.waitingOutdatesSnapshot ? "wait briefly" : "fail"),
      joinInTurn: transaction && dialect.waitingOutdatesSnapshot ? joinInTurn : undefined,
      defaults: driver.transactionDefaults,
      isConflict,
      wrap,
    }),
  };
}
