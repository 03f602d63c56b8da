/** Pools of `mysql2` and `mariadb` on a database's URL, and stores on them. */
import type { EventEmitter } from "node:events";
import * as mariadb from "mariadb";
import mysql2 from "mysql2/promise";
import { mysqlStore, type RateLimitStore } from "../../server/index.js";
import type { Open } from "./open-store.js";

/** @param options override those of the URL */
export function connectMysql2(url: string, options: mysql2.PoolOptions = {}): mysql2.Pool {
  return mysql2.createPool({ ...addressOf(url), ...options });
}

/** @param options override those of the URL */
export function connectMariadb(url: string, options: mariadb.PoolConfig = {}): mariadb.Pool {
  const pool = mariadb.createPool({ ...addressOf(url), ...options });
  // While the server is away, the pool emits an error that its types do not have. Ignore it.
  (pool as unknown as EventEmitter).on("error", () => {});
  return pool;
}

export const openMysql2: Open = (url, { isolation, connections }) => {
  const pool = connectMysql2(url, limitOf(connections));
  return {
    store: mysqlStore(pool, { isolation }) as RateLimitStore,
    run: (sql) => pool.query(sql),
    close: () => pool.end(),
  };
};

export const openMariadb: Open = (url, { isolation, connections }) => {
  const pool = connectMariadb(url, limitOf(connections));
  return {
    store: mysqlStore(pool, { isolation }) as RateLimitStore,
    run: (sql) => pool.query(sql),
    close: () => pool.end(),
  };
};

function limitOf(connections: number | undefined) {
  return connections === undefined ? {} : { connectionLimit: connections };
}

function addressOf(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname,
    port: Number(port || 3306),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  };
}
