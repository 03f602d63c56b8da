/** The connections of a pool of `mysql2/promise` or `mariadb`. */
import { isReadOnly } from "../../sql/mysql/errors.js";
import { checkMysqlPool } from "../pools/check-pool.js";
import { Connections } from "../pools/connections.js";
import type {
  ConnectionInternals,
  MysqlCallbackPoolLike,
  MysqlConnectionLike,
  MysqlPoolLike,
  PoolInternals,
} from "./mysql-client.js";

const NO_PROMISES =
  "the pool has callbacks instead of promises; give the store a pool of mariadb, not of " +
  "mariadb/callback";

/** @throws RateLimitConfigError when `pool` is no pool. */
export function promisePool(pool: MysqlPoolLike | MysqlCallbackPoolLike): MysqlPoolLike {
  const { promise } = Object(pool) as Partial<MysqlCallbackPoolLike>;
  const found = typeof promise === "function" ? promise.call(pool) : pool;
  checkMysqlPool(found);
  return found as MysqlPoolLike;
}

export function createMysqlConnections(pool: MysqlPoolLike): Connections<MysqlConnectionLike> {
  return new Connections<MysqlConnectionLike>({
    idleCount: () => idleCount(pool as PoolInternals),
    isExhausted: () => isExhausted(pool as PoolInternals),
    connect: (callback) => {
      lend(pool).then(
        (connection) => callback(undefined, connection),
        (error: unknown) => callback(error, undefined),
      );
    },
    release,
    probe: (connection) => connection.query({ sql: "SELECT 1" }),
    isAnswer: isMysqlAnswer,
  });
}

function idleCount(pool: PoolInternals): number {
  const { _freeConnections: free } = pool.pool ?? {};
  return pool.idleConnections?.() ?? free?.length ?? 0;
}

/**
 * With `mariadb`, requests also wait while a connection is being opened. So the pool counts as
 * exhausted only if connections are lent, too.
 */
function isExhausted(pool: PoolInternals): boolean {
  const { _connectionQueue: queue } = pool.pool ?? {};
  if (queue !== undefined) return queue.length > 0;
  return (pool.taskQueueSize?.() ?? 0) > 0 && (pool.activeConnections?.() ?? 0) > 0;
}

/** Lends a connection. A pool with callbacks throws if it gets no callback, or returns nothing. */
async function lend(pool: MysqlPoolLike): Promise<MysqlConnectionLike> {
  let lending: Promise<MysqlConnectionLike> | undefined;
  try {
    lending = pool.getConnection();
  } catch {
    throw new TypeError(NO_PROMISES);
  }
  if (lending === undefined) throw new TypeError(NO_PROMISES);
  return lending;
}

/** @param error destroys the connection instead of giving it back. */
function release(connection: MysqlConnectionLike, error?: Error): void {
  if (error === undefined) {
    // The promise of `mariadb` rejects if the connection broke meanwhile. The pool knows that already.
    Promise.resolve(connection.release()).catch(() => {});
    return;
  }
  connection.destroy();
  // `mysql2` only ends its half of the connection, and then waits for the other half.
  (connection as ConnectionInternals).connection?.stream?.destroy?.();
}

/** Errors after which the server closes the connection: shutdown, killed, idle for too long. */
const CLOSED_AFTER = new Set([1053, 1927, 4031]);

/** Whether the connection can be kept: the error came from the database. */
export function isMysqlAnswer(error: unknown): boolean {
  const { errno, sqlState, fatal } = (error ?? {}) as Record<string, unknown>;
  if (fatal === true || typeof errno !== "number" || typeof sqlState !== "string") return false;
  // `mariadb` has numbers of its own, from 45000, for errors that it detects itself.
  const isOfServer = errno < 45_000 || errno >= 46_000;
  return isOfServer && !CLOSED_AFTER.has(errno) && !isReadOnly(error);
}
