/**
 * The parts of a Drizzle database that a store needs. A database names its parts by `entityKind`, a
 * symbol that all copies and drivers of `drizzle-orm` share.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import { isBunSql } from "../store/drivers/bun-sql/bun-sql-client.js";
import { isD1 } from "../store/drivers/d1.js";
import type { DialectName } from "../store/sql/driver.js";
import { entityKind } from "./drizzle-symbols.js";
import { isSynchronousClient } from "./drizzle-synchronous.js";

/** A client of `postgres` (postgres-js). */
export interface PostgresJsClient {
  unsafe(
    text: string,
    params: unknown[],
    options: { prepare: boolean },
  ): PromiseLike<readonly unknown[] & { count?: number | null }>;
}

export interface DrizzleParts {
  dialect: DialectName;
  /** The class of the session, which differs by driver. */
  session: string;
  /** The client that the session runs its statements on. */
  client: object;
  /** Whether a limiter can take part in its transactions. */
  hasTransactions: boolean;
  /** Whether the client is a SQLite client that blocks, such as better-sqlite3. */
  isSynchronous: boolean;
}

/** A Drizzle database, with properties that its types hide. */
interface Internals {
  dialect?: unknown;
  session?: { client?: unknown };
  resultKind?: unknown;
}

const DIALECTS = new Map<string, DialectName>([
  ["PgDialect", "postgresql"],
  ["MySqlDialect", "mysql"],
  // Drizzle 0.x has a class for each kind of driver, which extends this one of Drizzle 1.0.
  ["SQLiteDialect", "sqlite"],
]);

/** Databases of Drizzle that a store has no statements for. */
const OTHER_DATABASES = new Set(["SingleStoreDialect", "GelDialect", "MsSqlDialect"]);

/** The versions of Drizzle that the tests run. */
const KNOWN_VERSIONS = "0.38 to 0.45, and 1.0 from its betas on";

/** Sessions that a store cannot use at all, and what to use instead. */
const REFUSED: Record<string, string> = {
  SQLiteRemoteSession: "sqlite-proxy has one connection for all; use drizzle-orm/libsql",
  OPSQLiteSession: "op-sqlite has one connection for all; use drizzle-orm/libsql",
  BunSQLiteSession:
    "Bun's SQL client has one connection for all; use drizzle-orm/libsql or drizzle-orm/bun-sqlite",
  MySqlRemoteSession: "mysql-proxy has no transactions; use drizzle-orm/mysql2",
  PlanetscaleSession:
    "PlanetScale (Vitess) passes no JSON_TABLE on; keep the limits in another database",
  AwsDataApiSession: "the AWS Data API takes no arrays; use drizzle-orm/node-postgres",
  PrismaPgSession: "use prismaStore(prisma)",
  PrismaMySqlSession: "use prismaStore(prisma)",
  PrismaSQLiteSession: "use prismaStore(prisma)",
};

/** Sessions on the SQL client of Bun. Drizzle passes parameters to this client unchanged. */
export const ON_BUN_SQL: ReadonlySet<string> = new Set(["BunSQLSession", "BunMySqlSession"]);

/** Sessions over HTTP: each statement is a request, and no transaction spans two requests. */
const WITHOUT_TRANSACTIONS = new Set([
  "NeonHttpSession",
  "NetlifyDbSession",
  "XataHttpSession",
  "PgRemoteSession",
]);

/** Sessions that borrow a connection of a pool for each transaction, if they have a pool. */
const POOLED: Record<string, { mark: string; pool: string }> = {
  NodePgSession: { mark: "totalCount", pool: "pg.Pool" },
  NeonSession: { mark: "totalCount", pool: "Pool of @neondatabase/serverless" },
  VercelPgSession: { mark: "totalCount", pool: "pool of @vercel/postgres" },
  MySql2Session: { mark: "getConnection", pool: "pool of mysql2" },
};

/** @throws RateLimitConfigError when a store cannot work on the database. */
export function drizzleParts(db: object): DrizzleParts {
  const { dialect: dialectOf, session: sessionOf, resultKind } = db as Internals;
  const dialect = kindsOf(dialectOf)
    .map((kind) => DIALECTS.get(kind))
    .find((known) => known !== undefined);
  const kinds = kindsOf(sessionOf);
  const [session] = kinds;
  if (session === undefined) throw refused(db);
  if (dialect === undefined) {
    const [kind = "none"] = kindsOf(dialectOf);
    throw refused(
      db,
      OTHER_DATABASES.has(kind)
        ? `its driver (${session}) is for another database`
        : `its dialect (${kind}, of the driver ${session}) is not known; known are those of ` +
            `PostgreSQL, MySQL and SQLite in Drizzle ${KNOWN_VERSIONS}`,
    );
  }
  const client = Object(sessionOf?.client) as object;
  if (resultKind === "sync") {
    if (isSynchronousClient(client)) {
      return { dialect, session, client, hasTransactions: false, isSynchronous: true };
    }
    throw refused(
      db,
      `its transactions are synchronous, and its client is not one of better-sqlite3, bun:sqlite ` +
        `or node:sqlite (Node.js 22.16 or later); use drizzle-orm/libsql`,
    );
  }
  if (session === "SQLiteD1Session") {
    if (isD1(client))
      return { dialect, session, client, hasTransactions: false, isSynchronous: false };
    throw refused(db, "its client is no binding to D1; give Drizzle one, such as env.DB");
  }
  const reason = Object.hasOwn(REFUSED, session) ? REFUSED[session] : undefined;
  if (reason !== undefined) throw refused(db, reason);
  if (kinds.some((kind) => kind.includes("Effect"))) {
    throw refused(db, `${session} returns effects; use a driver of Drizzle that returns promises`);
  }
  // Other sessions may have one connection for all callers, where a rollback would undo the writes of
  // other callers.
  if (dialect === "sqlite" && session !== "LibSQLSession") {
    throw refused(db, `${session} has not been tested; use drizzle-orm/libsql`);
  }
  const pooled = Object.hasOwn(POOLED, session) ? POOLED[session] : undefined;
  if (pooled !== undefined && !(pooled.mark in client)) {
    throw refused(
      db,
      `it has one connection, on which calls would become part of any open transaction; ` +
        `give Drizzle a ${pooled.pool}`,
    );
  }
  if (ON_BUN_SQL.has(session) && !isBunSql(client)) {
    throw refused(db, "its client is not a SQL client of Bun");
  }
  const hasTransactions = !WITHOUT_TRANSACTIONS.has(session);
  return { dialect, session, client, hasTransactions, isSynchronous: false };
}

function refused(db: unknown, reason = "the first argument must be what drizzle() returns") {
  return new RateLimitConfigError("db", db, {
    message: `drizzleStore cannot use this database: ${reason}`,
  });
}

/** The names of an object's class and of the classes that it extends, if Drizzle made them. */
function kindsOf(value: unknown): string[] {
  const kinds: string[] = [];
  for (let of: unknown = Object(value).constructor; typeof of === "function";) {
    if (Object.hasOwn(of, entityKind)) {
      kinds.push(String((of as unknown as Record<typeof entityKind, unknown>)[entityKind]));
    }
    of = Object.getPrototypeOf(of);
  }
  return kinds;
}
