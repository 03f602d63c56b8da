/** Code that must and must not compile with Drizzle and Kysely. `tsc` checks it; it never runs. */
import { eq } from "drizzle-orm";
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import type { Kysely, Transaction } from "kysely";
import { drizzleStore, type DrizzleTransactionOf } from "trpc-rate-limit/drizzle";
import { kyselyStore, type RateLimitTable } from "trpc-rate-limit/kysely";
import { createRateLimiter, MINUTE } from "trpc-rate-limit/server";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};
type TxOf<TDatabase extends { transaction(...args: never[]): unknown }> = Parameters<
  Parameters<TDatabase["transaction"]>[0]
>[0];

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

const posts = pgTable("posts", { body: text("body") });
const schema = { posts };
const pgDb = drizzlePg("", { schema });
const postgresJsDb = drizzlePostgresJs("", { schema });
const mysqlDb = drizzleMysql("");
const libsqlDb = drizzleLibsql("");

assert<Equal<DrizzleTransactionOf<typeof pgDb>, TxOf<typeof pgDb>>>();
assert<Equal<DrizzleTransactionOf<typeof postgresJsDb>, TxOf<typeof postgresJsDb>>>();
assert<Equal<DrizzleTransactionOf<typeof mysqlDb>, TxOf<typeof mysqlDb>>>();
assert<Equal<DrizzleTransactionOf<typeof libsqlDb>, TxOf<typeof libsqlDb>>>();

export async function throughDrizzle(body: string) {
  const limiter = createRateLimiter({ store: drizzleStore(pgDb, { table: "limits" }), limits });
  const rows = await limiter.transaction(async ({ tx, limit }) => {
    assert<Equal<typeof tx, TxOf<typeof pgDb>>>();
    await limit("few");
    await tx.insert(posts).values({ body });
    await tx.transaction((nested) => limiter.using(nested).limit("few"));
    return tx.query.posts.findMany({ where: eq(posts.body, body) });
  });
  assert<Equal<typeof rows, { body: string | null }[]>>();
  await pgDb.transaction((tx) => limiter.using(tx).limit("few"));
  // @ts-expect-error a transaction of another kind of database
  await libsqlDb.transaction((tx) => limiter.using(tx).limit("few"));
  // @ts-expect-error an unknown name needs a config
  await pgDb.transaction((tx) => limiter.using(tx).limit("fwe"));
  const onLibsql = createRateLimiter({ store: drizzleStore(libsqlDb), limits });
  await onLibsql.transaction(({ tx }) => tx.run("SELECT 1"));
  const onMysql = createRateLimiter({ store: drizzleStore(mysqlDb), limits });
  await onMysql.transaction(({ tx }) => tx.execute("SELECT 1"));
  drizzleStore(pgDb, { isolation: "serializable", schema: "app", prepare: false });
  drizzleStore(pgDb, { table: posts });
  // @ts-expect-error not an isolation of the store
  drizzleStore(pgDb, { isolation: "read committed" });
  // @ts-expect-error not a database
  drizzleStore({});
}

interface Tables {
  RateLimit: RateLimitTable;
  posts: { body: string };
}

export async function throughKysely(db: Kysely<Tables>) {
  const limiter = createRateLimiter({ store: kyselyStore(db, { schema: "app" }), limits });
  await limiter.transaction(async ({ tx, limit }) => {
    assert<Equal<typeof tx, Transaction<Tables>>>();
    await limit("few", { throws: true });
    await tx.insertInto("posts").values({ body: "hello" }).execute();
    // @ts-expect-error not a table of the application
    await tx.insertInto("pots").values({ body: "hello" }).execute();
  });
  await db.transaction().execute((tx) => limiter.using(tx).limit("few"));
  // @ts-expect-error the instance itself, which is no transaction
  await limiter.using(db).limit("few");
  const row = await db.selectFrom("RateLimit").selectAll().executeTakeFirstOrThrow();
  assert<
    Equal<typeof row, { name: string; key: string; shard: number; used: number; ts: number }>
  >();
}
