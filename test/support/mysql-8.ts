/**
 * A MariaDB that stands for a MySQL 8, which the tests cannot run. This server reports the version of a
 * MySQL, refuses statements that only MariaDB understands, and parses the numbers of a JSON text as
 * inexactly as MySQL's own parser. This server does not have the planner and the locks of MySQL.
 */
import { mysqlDriver } from "../../server/store/drivers/mysql/mysql-driver.js";
import type { MysqlPoolLike } from "../../server/store/drivers/mysql/mysql-client.js";
import { sqlStore } from "../../server/index.js";
import type { SqlConnection, SqlDriver } from "../../server/store/sql/driver.js";
import type { RateLimitStore } from "../../server/store/store.js";
import type { Open } from "./open-store.js";
import { connectMysql2 } from "./open-mysql.js";

const VERSION = "8.0.36 MySQL Community Server - GPL";
const MARIADB_ONLY = /SET STATEMENT|\bRETURNING\b|\bWAIT \d/;

/** For each number in a JSON text that is not whole: the next double, away from zero. */
function inexact(param: unknown): unknown {
  if (typeof param !== "string" || !param.startsWith("[")) return param;
  return JSON.stringify(JSON.parse(param), (_key, value: unknown) =>
    typeof value !== "number" || Number.isInteger(value) ? value : nextDouble(value),
  );
}

function nextDouble(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + 1n);
  return view.getFloat64(0);
}

function asMysql8({ query, execute }: SqlConnection): SqlConnection {
  const check = (text: string) => {
    if (MARIADB_ONLY.test(text)) throw new Error(`MySQL does not understand ${text}`);
  };
  return {
    async query(text, params, isWanted) {
      check(text);
      const rows = await query(text, params.map(inexact), isWanted);
      return rows.map((row) => ("version" in row ? { ...row, version: VERSION } : row));
    },
    async execute(text, params) {
      check(text);
      return execute(text, params.map(inexact));
    },
  };
}

export function mysql8Driver<TTransaction>(
  driver: SqlDriver<TTransaction>,
): SqlDriver<TTransaction> {
  return { ...driver, ...asMysql8(driver), within: (tx) => asMysql8(driver.within(tx)) };
}

export function mysql8Store(pool: MysqlPoolLike, options = {}): RateLimitStore {
  return sqlStore(mysql8Driver(mysqlDriver(pool)), options) as RateLimitStore;
}

export const openMysql8: Open = (url, { isolation, connections }) => {
  const limit = connections === undefined ? {} : { connectionLimit: connections };
  const pool = connectMysql2(url, limit);
  return {
    store: mysql8Store(pool, { isolation }),
    run: (sql) => pool.query(sql),
    close: () => pool.end(),
  };
};
