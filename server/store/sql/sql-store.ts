/** A store on one table of a SQL database: a dialect's statements, run by a driver. */
import { RateLimitConfigError, RateLimitStoreError } from "../../../core/errors.js";
import { createGroupCommit } from "../group-commit/group-commit.js";
import { retryConflicts } from "../retry-conflicts.js";
import type { RowAccess, RowStatements } from "../row-access.js";
import type { RateLimitStore } from "../store.js";
import { createTransactionStore } from "../transaction-store.js";
import { createDatabaseClock } from "./database-clock.js";
import type { Connection, CreateDialect } from "./dialect.js";
import type { DialectName, SqlConnection, SqlDriver } from "./driver.js";
import { mysql } from "./mysql.js";
import { postgresql } from "./postgresql.js";
import { pruneSql } from "./prune.js";
import { sqlite } from "./sqlite.js";
import { writeGroups } from "./write-groups.js";

export interface SqlStoreOptions {
  /** The table's name, not quoted. */
  table: string;
  /** See `PrismaStoreOptions.isolation`. */
  isolation?: "serializable" | undefined;
}

const DIALECTS: Record<DialectName, CreateDialect> = { postgresql, mysql, sqlite };

/** How long conflicts of a transaction are retried for, ms. */
const RETRY_FOR = 10_000;

/**
 * @param driver runs the application's transactions.
 * @param single runs the statements and transactions of the store itself. @default the same driver
 * @throws RateLimitConfigError when `isolation` is neither `"serializable"` nor left out.
 */
export function createSqlStore<TTransaction>(
  driver: SqlDriver<TTransaction>,
  { table, isolation }: SqlStoreOptions,
  single: SqlDriver = driver,
): RateLimitStore<TTransaction> {
  if (isolation !== undefined && isolation !== "serializable") {
    throw new RateLimitConfigError("isolation", isolation, '"serializable", or not given');
  }
  const serializable = isolation === "serializable";
  const clock = createDatabaseClock();
  const dialect = DIALECTS[driver.dialect](table, clock);
  const isConflict = (error: unknown) =>
    dialect.isConflict(error) ||
    (driver.isConflict?.(error) ?? false) ||
    (single.isConflict?.(error) ?? false);
  const wrap = (error: unknown) => storeError(error, table);

  const inside = (connection: SqlConnection, onLocked: Connection["onLocked"]): Connection => ({
    query: (...query) => connection.query(...query),
    execute: (...query) => connection.execute(...query),
    onLocked,
  });
  const statements = (connection: Connection): RowStatements => ({
    read: (rows) => dialect.read(connection, rows),
    write: (groups) => writeGroups(dialect, connection, groups),
  });
  const transact = <TResult>(
    isolationLevel: "Serializable" | "ReadCommitted",
    onLocked: Connection["onLocked"],
    run: (connection: Connection) => Promise<TResult>,
  ) => single.transaction((tx) => run(inside(single.within(tx), onLocked)), { isolationLevel });
  const own: Connection = {
    ...inside(single, "skip"),
    // SQLite has no other level than Serializable.
    transaction: (run) =>
      transact(dialect.hasRowLocks ? "ReadCommitted" : "Serializable", "skip", run),
  };
  const join = (tx: TTransaction, onLocked: Connection["onLocked"]) =>
    createTransactionStore(statements(inside(driver.within(tx), onLocked)), { isConflict, wrap });

  /** The check of the table. It runs once; after a failure, the next call runs it again. */
  let checked: Promise<void> | undefined;
  const grounded = async <TResult>(run: () => Promise<TResult>): Promise<TResult> => {
    if (dialect.checkGround === undefined) return run();
    checked ??= dialect.checkGround(single).catch((error: unknown) => {
      checked = undefined;
      throw error;
    });
    await checked;
    return run();
  };

  const locked: RowAccess["locked"] = (run) =>
    grounded(() =>
      serializable
        ? transact("Serializable", "fail", (tx) => run(statements(tx)))
        : transact("ReadCommitted", "wait briefly", (tx) => run(statements(tx))),
    );

  const groupCommit = createGroupCommit({
    read: (rows) => grounded(() => dialect.read(own, rows)),
    write: (groups) => writeGroups(dialect, own, groups),
    take: (...take) => grounded(() => dialect.take(single, ...take)),
    locked: serializable || dialect.hasRowLocks ? locked : undefined,
    isConflict,
    wrap,
    clock,
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
    transaction(run, { retryFor = RETRY_FOR, timeout, maxWait }) {
      const once = () =>
        driver.transaction((tx) => run(tx, join(tx, "fail")), {
          isolationLevel: "Serializable",
          timeout,
          maxWait,
        });
      return retryConflicts(once, { retryFor, isConflict });
    },
  };
}

function storeError(cause: unknown, table: string): RateLimitStoreError {
  if (cause instanceof RateLimitStoreError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  // Prisma's messages begin with the call site. The database's own message is in the last line.
  const said = text.trim().split("\n").at(-1);
  const hint = /no such table|does not exist|doesn't exist/.test(text)
    ? ` (the model of table "${table}" must be in the Prisma schema, and migrated)`
    : "";
  return new RateLimitStoreError(`the rate limit store failed: ${said}${hint}`, { cause });
}
