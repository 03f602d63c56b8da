/** Stores on the SQL client of Bun. These stores open only in a process of Bun. */
import { createRequire } from "node:module";
import { type DrizzleLike, drizzleStore } from "../../server/drizzle/index.js";
import { type BunSqlLike, mysqlStore, pgStore, type RateLimitStore } from "../../server/index.js";
import type { Open } from "./open-store.js";

/** The client's members that the tests use. */
export interface BunSql extends BunSqlLike {
  begin<TResult>(run: (tx: BunSql) => Promise<TResult>): Promise<TResult>;
  begin<TResult>(options: string, run: (tx: BunSql) => Promise<TResult>): Promise<TResult>;
  close(): Promise<void>;
}

export function connectBunSql(url: string, options: object = {}): BunSql {
  const { SQL } = createRequire(import.meta.url)("bun") as {
    SQL: new (url: string, options: object) => BunSql;
  };
  return new SQL(url, options);
}

type StoreOf = (sql: BunSql, options: { isolation: "serializable" | undefined }) => RateLimitStore;

const openBun =
  (storeOf: StoreOf, settings: object = {}): Open =>
  (url, { isolation, connections }) => {
    const size = connections === undefined ? {} : { max: connections };
    const sql = connectBunSql(url, { ...settings, ...size });
    return {
      store: storeOf(sql, { isolation }),
      run: (text) => sql.unsafe(text),
      close: () => sql.close(),
    };
  };

/** Drizzle's driver for Bun supports MySQL since 1.0. */
const openDrizzle =
  (path: string, settings: object = {}): Open =>
  (url, { isolation, connections }) => {
    const size = connections === undefined ? {} : { max: connections };
    const client = connectBunSql(url, { ...settings, ...size });
    const { drizzle } = createRequire(import.meta.url)(path) as {
      drizzle: (config: { client: BunSql }) => DrizzleLike;
    };
    return {
      store: drizzleStore(drizzle({ client }), { isolation }) as RateLimitStore,
      run: (text) => client.unsafe(text),
      close: () => client.close(),
    };
  };

export const bunOpeners = {
  "bun sql pg": openBun(pgStore as StoreOf),
  "bun sql pg, unprepared": openBun(pgStore as StoreOf, { prepare: false }),
  "bun sql mysql": openBun(mysqlStore as StoreOf, { foundRows: true }),
  "drizzle bun-sql pg": openDrizzle("drizzle-orm/bun-sql"),
  "drizzle bun-sql mysql": openDrizzle("drizzle-orm/bun-sql/mysql", { foundRows: true }),
} satisfies Record<string, Open>;
