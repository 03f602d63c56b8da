/** SQLite without an ORM, through `better-sqlite3`, `node:sqlite`, `bun:sqlite` or `@libsql/client`. */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isD1, isD1Session } from "../d1.js";
import { createSqlStore } from "../../sql/create-sql-store.js";
import { sqlStore, type SqlStoreOptions, tableOf } from "../../sql-store.js";
import type { RateLimitStore } from "../../store.js";
import { isBunSql } from "../bun-sql/bun-sql-client.js";
import type {
  LibsqlClientLike,
  SqliteDatabaseLike,
  SqliteTransactionOf,
} from "./sqlite-clients.js";
import { isLibsql, libsqlDriver } from "./sqlite-libsql.js";
import { isSynchronous, NO_OPEN, synchronousDrivers } from "./sqlite-synchronous.js";

export interface SqliteStoreOptions<TClient = SqliteDatabaseLike> extends SqlStoreOptions {
  /**
   * Opens another connection to the same database, with the same settings. `transaction` runs each
   * transaction on a connection of its own, and closes it afterwards. Only for `better-sqlite3`,
   * `node:sqlite` and `bun:sqlite`.
   * @default `transaction` is refused
   */
  open?: (() => TClient) | undefined;
}

const EXPECTED =
  "a Database of better-sqlite3 or bun:sqlite, a DatabaseSync of node:sqlite (Node.js 22.16 or " +
  "later), or a client of @libsql/client";

/**
 * A store on one connection or client. One store per database and process: calls that share a store
 * share their statements. `using` takes a transaction of `@libsql/client`, or a separate connection
 * that has run `BEGIN IMMEDIATE`.
 *
 * A synchronous client blocks the event loop while another process writes. The client's time-out
 * (`timeout`, or `PRAGMA busy_timeout`, which is 0 in Bun) should be short, such as 100 ms. After the
 * time-out, the store tries again.
 *
 * @throws RateLimitConfigError when `db` is none of these clients, or `isolation` is given and is
 * not `"serializable"`, or `open` is given for `@libsql/client`.
 *
 * @example
 * import { createClient } from "@libsql/client";
 * import { sqliteStore } from "trpc-rate-limit/server";
 *
 * const store = sqliteStore(createClient({ url: "file:limits.db" }));
 */
export function sqliteStore<TClient extends SqliteDatabaseLike | LibsqlClientLike>(
  db: TClient,
  options: SqliteStoreOptions<TClient> = {},
): RateLimitStore<SqliteTransactionOf<TClient>> {
  const { isolation, open } = options;
  const problem = problemOf(db);
  if (problem !== undefined) throw new RateLimitConfigError("db", db, problem);
  if (open !== undefined && (isLibsql(db) || typeof open !== "function")) {
    const expected = isLibsql(db) ? "left out: @libsql/client does this itself" : "a function";
    throw new RateLimitConfigError("open", open, expected);
  }
  if (isLibsql(db)) {
    return sqlStore(libsqlDriver(db), options);
  }
  const { transactions, single, atOnce } = synchronousDrivers<SqliteDatabaseLike>(
    db,
    open as (() => SqliteDatabaseLike) | undefined,
  );
  const store = createSqlStore(
    transactions,
    { table: tableOf(options), isolation },
    single,
    atOnce,
  );
  return {
    ...store,
    ...(open === undefined && { transaction: refuseTransaction }),
  } as RateLimitStore<SqliteTransactionOf<TClient>>;
}

async function refuseTransaction(): Promise<never> {
  throw new RateLimitConfigError("open", undefined, { message: NO_OPEN });
}

/** Says what is wrong with a client, and what to pass instead; `undefined` if the client can be used. */
function problemOf(db: unknown): string | undefined {
  if (isBunSql(db))
    return `${EXPECTED}, and not a SQL client of Bun, which has one connection for all`;
  if (typeof db === "string") return `${EXPECTED}, and not a path: open the database first`;
  if (typeof db !== "object" || db === null) return EXPECTED;
  if ("$client" in db) return `${EXPECTED}, and not a Drizzle instance: pass its $client`;
  if ("$queryRawUnsafe" in db) return `${EXPECTED}: use prismaStore for a Prisma client`;
  if (isD1(db) || isD1Session(db)) return `${EXPECTED}: use d1Store for a binding to D1`;
  if ("transactionSync" in db) {
    return `${EXPECTED}: use durableStore for the storage of a Durable Object`;
  }
  if (isLibsql(db)) {
    return db.protocol === "file" || db.protocol === "http"
      ? undefined
      : `${EXPECTED} with a URL that begins with file:, libsql: or https:, and not with ws: or ` +
          "wss:, which send numbers as decimals";
  }
  // The package libsql looks much like better-sqlite3, and its reads may be stale.
  return isSynchronous(db) && !("sync" in db) ? undefined : EXPECTED;
}
