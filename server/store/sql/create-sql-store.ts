/** A store on one table of a SQL database: a dialect's statements, run by a driver. */
import type { PeriodicConfig } from "../../../core/config.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { createCommitAtOnce } from "../group-commit/commit-at-once.js";
import { createCommitPerTurn } from "../group-commit/commit-per-turn.js";
import { createGroupCommit } from "../group-commit/group-commit.js";
import { retryConflicts } from "../retry-conflicts.js";
import type { RowAccess, TakeLine } from "../row-access.js";
import type { RateLimitStore } from "../store.js";
import { createUsing } from "../transactions/owned-by-caller.js";
import { createTransactionRunner } from "../transactions/owned-by-store.js";
import type { Connection } from "./connection.js";
import type { ConnectionAtOnce } from "./connection-at-once.js";
import { periodicLine, periodicLines } from "./current-window.js";
import { boundLockWaits, type Dialect, type Statements } from "./dialect.js";
import { DIALECTS } from "./dialects.js";
import type { SqlConnection, SqlDriver } from "./driver.js";
import { SqlOverrideTable } from "./override-table.js";
import { pruneSql } from "./prune.js";
import { SqlTransactions, type SqlTransactionsOptions } from "./sql-transactions.js";
import type { TableName } from "./sql.js";
import { storeError } from "./store-error.js";
import { CheckedTable } from "./table/checked-table.js";

export interface SqlStoreOptions {
  table: TableName;
  /** See `PrismaStoreOptions.isolation`. */
  isolation?: "serializable" | undefined;
  /** Whether the database is across a network, although it is SQLite. */
  isRemote?: boolean;
}

/** How long a statement over many rows may take, ms. */
const LONGEST_STATEMENT = 20_000;
/** How long a statement of a Serializable transaction may wait for one lock, ms. */
const LOCK_WAIT = 1000;

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
  const isSerializable = isolation === "serializable";
  const dialect = DIALECTS[driver.dialect];
  const isConflict = (error: unknown) =>
    dialect.errors.isConflict(error) ||
    (driver.isConflict?.(error) ?? false) ||
    (single.isConflict?.(error) ?? false);
  const isSilent = () => groupCommit.isSilentSince?.(Infinity) ?? false;
  const wrap = (error: unknown) => {
    const wrapped = storeError(error, name, dialect, isSilent);
    table.noteError(wrapped);
    return wrapped;
  };
  const table: CheckedTable = new CheckedTable(name, dialect, single, (statements) =>
    takeBy(statements, access, single),
  );
  const parts: Parts<TTransaction> = { driver, single, dialect, table, isConflict, wrap };
  const transactions = new SqlTransactions(parts);
  const access = accessTo(parts, transactions, isSerializable);
  // A file is never silent: a call without an answer waits for a transaction of this process.
  if (!dialect.isFile || isRemote === true) access.probe = (sent) => probe(single, sent);
  const groupCommit =
    atOnce === undefined
      ? (requestsOwnIo() ? createCommitPerTurn : createGroupCommit)(access)
      : createCommitAtOnce(access, {
          inTurn: atOnce.inTurn,
          transact: dialect.transactAtOnce!(name, table.clock, atOnce),
        });

  const { clock } = table;
  const { onPoolError = driver.onPoolError } = single;
  const whyLate = () => whyLateOn(parts, isSilent());
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
    ...browsing(parts, transactions.own, groupCommit.apply),
    ...joining(parts, transactions, whyLate),
    whyLate,
  };
}

type Parts<TTransaction> = SqlTransactionsOptions<TTransaction>;

/** An access with the members that can be set after it was made. */
type Access = Writable<RowAccess, "take" | "takeOne" | "mixesTerms" | "probe">;

function accessTo<TTransaction>(
  { single, dialect, table, isConflict, wrap }: Parts<TTransaction>,
  transactions: SqlTransactions<TTransaction>,
  isSerializable: boolean,
): Access {
  const { own, write } = transactions;
  const locked: RowAccess["locked"] = (run, isHurried) =>
    isSerializable ? transactions.serializable(run) : transactions.locked(run, isHurried);
  const hasLocks = single.transaction !== undefined && (isSerializable || dialect.hasRowLocks);
  return {
    prepare: table.prepare,
    read: (rows) => table.statements.read(own, rows),
    write,
    take: undefined,
    takeOne: undefined,
    mixesTerms: false,
    locked: hasLocks ? locked : undefined,
    isConflict,
    wrap,
    serializable: isSerializable,
    // Two concurrent Serializable transactions would conflict over the pages that they share.
    maxInFlight: isSerializable ? 1 : dialect.maxInFlight,
    probe: undefined,
    isExhausted: single.isExhausted?.bind(single),
  };
}

/** Gives an access the takes of an engine. */
function takeBy({ take, takeOne, mixesTerms }: Statements, access: Access, single: SqlDriver) {
  access.take =
    take && ((lines, options) => take(single, periodicLines(lines, options.now), options));
  access.takeOne =
    takeOne &&
    ((line, options) =>
      // The period of nearly all lines is a number already.
      typeof line.terms.config.period === "number"
        ? takeOne(single, line as TakeLine<PeriodicConfig>, options)
        : takeOne(single, periodicLine(line, options.now), options));
  access.mixesTerms = mixesTerms;
}

function probe(single: SqlDriver, sent: () => void): Promise<unknown> {
  const isWanted = () => {
    sent();
    return true;
  };
  return single.query("SELECT 1", [], isWanted);
}

/** The methods that look through the whole table. */
function browsing(
  {
    single,
    dialect,
    table,
    isConflict,
    wrap,
  }: Pick<Parts<never>, "single" | "dialect" | "table" | "isConflict" | "wrap">,
  own: Connection,
  apply: RateLimitStore["apply"],
): Required<Pick<RateLimitStore, "list" | "earliest" | "sums" | "names" | "prune">> {
  /** Retries a read: a read can meet a conflict, too, on SQLite and at Serializable. */
  async function reading<TResult>(read: () => Promise<TResult>): Promise<TResult> {
    try {
      return await retryConflicts(() => table.checked(read), { isConflict });
    } catch (error) {
      throw wrap(error);
    }
  }
  const list: Required<RateLimitStore>["list"] = (...page) =>
    reading(() => table.statements.list(single, ...page));
  return {
    list,
    earliest: (...of) => reading(() => table.statements.earliest(single, ...of)),
    sums: (name, terms) =>
      reading(() =>
        patiently(dialect, single, (connection) => table.statements.sums(connection, name, terms)),
      ),
    async *names() {
      let last: string | undefined;
      const next = () => reading<string | undefined>(() => table.statements.nextName(single, last));
      while ((last = await next()) !== undefined) yield last;
    },
    async *prune(terms) {
      try {
        await reading(async () => {});
        const options = { dialect, table: table.name, connection: own, isConflict };
        yield* pruneSql({ ...options, store: { apply, list } }, terms);
      } catch (error) {
        throw wrap(error);
      }
    },
  };
}

/**
 * Runs a statement over many rows in a transaction, where there are pools. A pool takes the connection of a
 * statement outside of a transaction for dead after five seconds, and then doubts its other connections.
 */
function patiently<TResult>(
  dialect: Dialect,
  single: SqlDriver,
  run: (connection: SqlConnection) => Promise<TResult>,
): Promise<TResult> {
  if (dialect.isFile || single.transaction === undefined) return run(single);
  return single.transaction(
    async (tx) => {
      const connection = single.within(tx);
      if (dialect.boundStatements) {
        await connection.execute(dialect.boundStatements(LONGEST_STATEMENT), []);
      }
      return run(connection);
    },
    { isolationLevel: "ReadCommitted", timeout: LONGEST_STATEMENT },
  );
}

/** The methods by which calls of the limiter become part of transactions. */
function joining<TTransaction>(
  { driver, dialect, table, isConflict, wrap }: Parts<TTransaction>,
  transactions: SqlTransactions<TTransaction>,
  whyLate: () => string,
): Required<Pick<RateLimitStore<TTransaction>, "using" | "transaction">> {
  return {
    using: createUsing<TTransaction>({
      join: (tx) => transactions.using(tx),
      endsTransaction: (error) => dialect.conflictEndsTransaction && isConflict(error),
    }),
    transaction: createTransactionRunner<TTransaction>({
      whyLate,
      transact: (run, options) => table.checked(() => transactions.begin(run, options)),
      prepare: (tx) => boundLockWaits(dialect, driver.within(tx), LOCK_WAIT),
      join: (tx, queued) => transactions.join(tx, queued),
      joinInTurn: transactions.joinInTurn,
      defaults: driver.transactionDefaults,
      isConflict,
      wrap,
    }),
  };
}

/** See `RateLimitStore.whyLate`. */
function whyLateOn<TTransaction>(
  { driver, single, dialect }: Parts<TTransaction>,
  isSilent: boolean,
): string {
  if (!isSilent) return single.isExhausted?.() ? LENT : "";
  // Some clients do not tell whether all connections are lent. A file and statements over HTTP have no
  // pool.
  const hasPool = !dialect.isFile && driver.transaction !== undefined;
  return hasPool && single.isExhausted === undefined ? MAYBE_LENT : "";
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
