/** Tells apart the clients that `pgStore` and `mysqlStore` cannot use, and says what to use instead. */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isPostgresJs } from "../bun-sql/bun-sql-client.js";

const PG_EXPECTED =
  "a pg.Pool, a pg.Client that is connected, a SQL client of Bun, or the function of neon(url)";
const MYSQL_EXPECTED = "a pool of mysql2 or mariadb";

const PLANETSCALE =
  "and not a client of @planetscale/database, because PlanetScale (Vitess) passes no JSON_TABLE on: " +
  "keep the limits in another database";

/** @throws RateLimitConfigError when the client is no pool of `pg`. */
export function checkPgPool(pool: unknown): void {
  const { connect, release, getConnection } = Object(pool) as Record<string, unknown>;
  const isPool = typeof connect === "function" && typeof release !== "function";
  if (isPool && !isPostgresJs(pool)) return;
  const instead =
    insteadOf(pool, "pgStore") ??
    (typeof getConnection === "function" ? ": use mysqlStore for a pool of MySQL" : undefined) ??
    (typeof release === "function" ? ", and not a client that a pool has lent" : "");
  throw new RateLimitConfigError("pool", pool, PG_EXPECTED + instead);
}

/** @throws RateLimitConfigError when the client is no pool of MySQL. */
export function checkMysqlPool(pool: unknown): void {
  const { getConnection, connect } = Object(pool) as Record<string, unknown>;
  if (typeof getConnection === "function") return;
  const isConnection = typeof connect === "function";
  const instead =
    insteadOf(pool, "mysqlStore") ??
    (isConnection ? ", and not a single connection, which other requests use meanwhile" : "");
  throw new RateLimitConfigError("pool", pool, MYSQL_EXPECTED + instead);
}

/**
 * Says what is wrong with a client that neither store can use; `undefined` if the client is none of
 * these.
 */
function insteadOf(client: unknown, store: "pgStore" | "mysqlStore"): string | undefined {
  if (typeof client === "string") return ", and not a connection string: make the pool first";
  if (isPostgresJs(client)) {
    return (
      ", and not postgres.js: use drizzleStore on drizzle-orm/postgres-js, or sqlStore with the " +
      "driver of 40 lines in docs/drivers.md"
    );
  }
  const { $client, $queryRawUnsafe, execute, transaction, query } = Object(client) as Record<
    string,
    unknown
  >;
  // A Drizzle database has `execute` and `transaction`, too.
  if ($client !== undefined) return ", and not a Drizzle database: use drizzleStore(db)";
  if (typeof $queryRawUnsafe === "function") return ": use prismaStore for a Prisma client";
  if (typeof execute === "function" && typeof transaction === "function") return `, ${PLANETSCALE}`;
  if (typeof client !== "function") return undefined;
  if (store === "pgStore" && typeof transaction === "function" && query === undefined) {
    return ", of @neondatabase/serverless 1.0 or later: this one cannot run text with parameters";
  }
  return ", and not a function for templates: pass the pool that it uses";
}
