/** Compiled by `test/drivers/drizzle-1.test.ts`, with the types of Drizzle 1.0. */
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import { drizzleStore, type DrizzleTransactionOf } from "../../server/drizzle/index.js";
import { createRateLimiter, MINUTE } from "../../server/index.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};
type TxOf<TDatabase extends { transaction(...args: never[]): unknown }> = Parameters<
  Parameters<TDatabase["transaction"]>[0]
>[0];

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
const posts = pgTable("posts", { body: text("body") });
const pgDb = drizzlePg("");
const postgresJsDb = drizzlePostgresJs("");
const pgliteDb = drizzlePglite("");
const mysqlDb = drizzleMysql("");
const libsqlDb = drizzleLibsql("");

assert<Equal<DrizzleTransactionOf<typeof pgDb>, TxOf<typeof pgDb>>>();
assert<Equal<DrizzleTransactionOf<typeof postgresJsDb>, TxOf<typeof postgresJsDb>>>();
assert<Equal<DrizzleTransactionOf<typeof pgliteDb>, TxOf<typeof pgliteDb>>>();
assert<Equal<DrizzleTransactionOf<typeof mysqlDb>, TxOf<typeof mysqlDb>>>();
assert<Equal<DrizzleTransactionOf<typeof libsqlDb>, TxOf<typeof libsqlDb>>>();

export async function throughDrizzle(body: string) {
  const limiter = createRateLimiter({ store: drizzleStore(pgDb, { table: posts }), limits });
  await limiter.transaction(async ({ tx, limit }) => {
    assert<Equal<typeof tx, TxOf<typeof pgDb>>>();
    await limit("few");
    await tx.insert(posts).values({ body });
    await tx.transaction((nested) => limiter.using(nested).limit("few"));
  });
  await pgDb.transaction((tx) => limiter.using(tx).limit("few"));
  // @ts-expect-error a transaction of another kind of database
  await libsqlDb.transaction((tx) => limiter.using(tx).limit("few"));
  const onLibsql = createRateLimiter({ store: drizzleStore(libsqlDb), limits });
  await onLibsql.transaction(({ tx }) => tx.run("SELECT 1"));
  const onMysql = createRateLimiter({ store: drizzleStore(mysqlDb), limits });
  await onMysql.transaction(({ tx }) => tx.execute("SELECT 1"));
  // @ts-expect-error not a database
  drizzleStore({});
}
