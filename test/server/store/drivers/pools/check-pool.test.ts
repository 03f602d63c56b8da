import { createClient } from "@libsql/client";
import { drizzle as drizzleD1 } from "drizzle-orm/d1";
import { drizzle } from "drizzle-orm/node-postgres";
import mysql from "mysql2";
import mysqlPromise from "mysql2/promise";
import pg from "pg";
import postgres from "postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import { isBunSql } from "../../../../../server/store/drivers/bun-sql/bun-sql-client.js";
import {
  d1Store,
  durableStore,
  mysqlStore,
  pgStore,
  RateLimitConfigError,
  sqliteStore,
} from "../../../../../server/index.js";
import { connectSqlite } from "../../../../support/clients.js";
import { itThrows, type Refusal } from "../../../../support/refusals.js";

/** A server that nothing connects to. */
const URL = "postgresql://127.0.0.1:1/none";

function connectPostgresJs() {
  const sql = postgres(URL);
  onTestFinished(() => sql.end());
  return sql;
}

function connectMysql() {
  const connection = mysql.createConnection({ host: "127.0.0.1", port: 1 });
  connection.on("error", () => {});
  onTestFinished(() => connection.destroy());
  return connection;
}

/** The methods of a connection of `@planetscale/database`. */
const planetscale = { execute() {}, transaction() {}, refresh() {} };
/** What `neon()` returned before version 1.0. */
const oldNeon = Object.assign(() => {}, { transaction() {} });
const template = () => {};
const ISOLATION = /isolation must be "serializable", or not given, got "snapshot"/;
const SERIALIZABLE = { isolation: "serializable" };

/** Of a Durable Object. */
const storage = {
  sql: { exec: () => ({ toArray: () => [], rowsWritten: 0 }) },
  transactionSync: <TResult>(run: () => TResult) => run(),
};
const withoutSqlite = {
  get sql(): never {
    throw new Error("SQL is not enabled for this Durable Object class.");
  },
  transactionSync() {},
};
const binding = { prepare() {}, batch() {}, exec() {} };
const session = { prepare() {}, batch() {}, getBookmark() {} };
const prisma = { $queryRawUnsafe() {}, $connect() {} };

type Row = [connect: () => unknown, told: RegExp, options?: object];
const given =
  (store: (client: never, options?: never) => unknown) =>
  ([connect, told, options]: Row): Refusal => [
    () => store(connect() as never, options as never),
    told,
  ];

describe("pgStore", () => {
  const rows: Row[] = [
    [connectPostgresJs, /not postgres\.js: use drizzleStore on drizzle-orm\/pos/],
    [() => URL, /not a connection string: make the pool first/],
    [() => drizzle({ client: new pg.Pool() }), /not a Drizzle database: use drizzleSto/],
    [() => prisma, /use prismaStore for a Prisma cli/],
    [() => planetscale, /not a client of @planetscale.*no JSON_TABLE/],
    [() => mysql.createPool({ port: 1 }), /use mysqlStore for a pool of MySQL/],
    [() => oldNeon, /of @neondatabase\/serverless 1\.0 or later/],
    [() => template, /not a function for templates: pass the pool/],
    [() => Object.assign(new pg.Client(), { release() {} }), /not a client that a pool has lent/],
    [() => ({}), /^pool must be a pg\.Pool, a pg\.Client that is connected, /],
    [() => undefined, /^pool must be a pg\.Pool/],
    [() => new pg.Pool(), ISOLATION, { isolation: "snapshot" }],
  ];
  itThrows(RateLimitConfigError, rows.map(given(pgStore)));
});

describe("mysqlStore", () => {
  const rows: Row[] = [
    [() => planetscale, /not a client of @planetscale.*no JSON_TABLE/],
    [connectPostgresJs, /not postgres\.js: use drizzleStore on drizzle-orm\/pos/],
    [() => "mysql://127.0.0.1/none", /not a connection string/],
    [() => new pg.Pool(), /^pool must be a pool of mysql2 or mariadb/],
    [() => ({}), /pool must be a pool of mysql2 or mariadb/],
    [() => undefined, /^pool must be a pool of mysql2 or mariadb/],
    [() => ({ getConnection() {} }), ISOLATION, { isolation: "snapshot" }],
    [connectMysql, /not a single connection/],
    [() => connectMysql().promise(), /not a single connection/],
  ];
  itThrows(RateLimitConfigError, rows.map(given(mysqlStore)));

  it("takes a pool of mysql2, with promises or without", () => {
    for (const pool of [mysql.createPool({ port: 1 }), mysqlPromise.createPool({ port: 1 })]) {
      expect(() => mysqlStore(pool)).not.toThrow();
    }
  });
});

describe("durableStore", () => {
  const rows: Row[] = [
    [
      () => undefined,
      /^storage must be the storage of a Durable Object with SQLite, such as ctx\.st/,
    ],
    [() => ({ storage }), /such as ctx\.storage, and not ctx itself/],
    [() => binding, /use d1Store for a binding to D1/],
    [() => withoutSqlite, /declare the class of the object under new_sqlite_classes/],
    [() => storage, /isolation must be left out: decisions of a Durable Object run/, SERIALIZABLE],
    [() => storage, /Durable Object run one after the other/, SERIALIZABLE],
  ];
  itThrows(RateLimitConfigError, rows.map(given(durableStore)));
});

describe("d1Store", () => {
  const rows: Row[] = [
    [() => undefined, /^db must be a binding to D1, such as env\.DB/],
    [() => "DB", /must be a binding to D1, such as env\.DB/],
    [() => ({ DB: binding }), /must be a binding to D1, such as env\.DB/],
    [() => session, /not a session of it, whose reads may be stale/],
    [() => drizzleD1(binding as never), /not a Drizzle database: use drizzleStore, or env\.DB/],
    [() => connectSqlite("file::memory:"), /not a Prisma client: pass env\.DB/],
    [() => createClient({ url: "file::memory:" }), /must be a binding to D1/],
    [() => ({ sql: {}, transactionSync() {} }), /use durableStore\(ctx\.storage\)/],
  ];
  itThrows(RateLimitConfigError, rows.map(given(d1Store)));
});

it("postgres.js is not taken for Bun's client", () => {
  const sql = connectPostgresJs();
  expect(isBunSql(sql)).toBe(false);
  expect(() => sqliteStore(sql as never)).toThrow(/^db must be a Database of better-sqlite3/);
});
