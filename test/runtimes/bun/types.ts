/** Compiled by `test/runtimes/bun/types.test.ts`, with the types of Bun. */
import { SQL, sql } from "bun";
import { Database } from "bun:sqlite";
import {
  createRateLimiter,
  MINUTE,
  mysqlStore,
  pgStore,
  sqliteStore,
} from "../../../server/index.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

export async function onSqlite(): Promise<void> {
  const open = () => new Database("app.db", { readwrite: true, strict: true, safeIntegers: true });
  const limiter = createRateLimiter({ store: sqliteStore(open(), { open }), limits });
  await limiter.transaction(async ({ tx, limit }) => {
    assert<Equal<typeof tx, Database>>();
    await limit("few");
    tx.query("SELECT 1").all();
  });
  const own = open();
  own.exec("BEGIN IMMEDIATE");
  await limiter.using(own).limit("few");
}

export async function onPostgres(): Promise<void> {
  const limiter = createRateLimiter({ store: pgStore(sql), limits });
  await limiter.transaction(async ({ tx, limit }) => {
    await limit("few");
    await tx`SELECT 1`;
    await tx.savepoint((nested) => nested`SELECT 1`);
  });
  await sql.begin((tx) => limiter.using(tx).limit("few"));
  // @ts-expect-error no transaction
  limiter.using({});
  // @ts-expect-error a database of SQLite
  pgStore(new Database());
}

export async function onMysql(): Promise<void> {
  const client = new SQL("mysql://root@localhost/app", { foundRows: true });
  const limiter = createRateLimiter({ store: mysqlStore(client), limits });
  await limiter.transaction(({ tx }) => tx.unsafe("SELECT 1"));
  await client.begin((tx) => limiter.using(tx).limit("few"));
  // @ts-expect-error Bun's client has no place for it
  sqliteStore(client);
}
