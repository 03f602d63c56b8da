import { drizzle } from "drizzle-orm/node-postgres";
import mysql from "mysql2";
import mysqlPromise from "mysql2/promise";
import pg from "pg";
import postgres from "postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import { isBunSql } from "../../../../../server/store/drivers/bun-sql/bun-sql-client.js";
import { mysqlStore, pgStore, sqliteStore } from "../../../../../server/index.js";

/** A server that nothing connects to. */
const URL = "postgresql://127.0.0.1:1/none";

function connectPostgresJs() {
  const sql = postgres(URL);
  onTestFinished(() => sql.end());
  return sql;
}

/** The methods of a connection of `@planetscale/database`. */
const planetscale = { execute() {}, transaction() {}, refresh() {} };
/** What `neon()` returned before version 1.0. */
const oldNeon = Object.assign(() => {}, { transaction() {} });
const template = () => {};

const INVALID = expect.objectContaining({ kind: "InvalidConfig" });

describe("pgStore refuses", () => {
  it.each<[what: string, client: () => unknown, message: RegExp]>([
    ["postgres.js", connectPostgresJs, /not postgres\.js: use drizzleStore on drizzle-orm\/pos/],
    ["a connection string", () => URL, /not a connection string: make the pool first/],
    ["Drizzle", () => drizzle({ client: new pg.Pool() }), /not a Drizzle database: use drizzleSto/],
    ["Prisma", () => ({ $queryRawUnsafe() {}, $connect() {} }), /use prismaStore for a Prisma cli/],
    ["PlanetScale's client", () => planetscale, /not a client of @planetscale.*no JSON_TABLE/],
    ["a pool of mysql2", () => mysql.createPool({ port: 1 }), /use mysqlStore for a pool of MySQL/],
    ["neon() before 1.0", () => oldNeon, /of @neondatabase\/serverless 1\.0 or later/],
    ["a function for templates", () => template, /not a function for templates: pass the pool/],
    [
      "a client that a pool has lent",
      () => Object.assign(new pg.Client(), { release() {} }),
      /not a client that a pool has lent/,
    ],
    ["something else", () => ({}), /^pool must be a pg\.Pool, a pg\.Client that is connected, /],
    ["nothing", () => undefined, /^pool must be a pg\.Pool/],
  ])("%s, and says what to use", (_, connect, message) => {
    const client = connect();
    expect(() => pgStore(client as never)).toThrow(message);
    expect(() => pgStore(client as never)).toThrow(INVALID);
  });
});

describe("mysqlStore refuses", () => {
  it.each<[what: string, client: () => unknown, message: RegExp]>([
    ["PlanetScale's client", () => planetscale, /not a client of @planetscale.*no JSON_TABLE/],
    ["postgres.js", connectPostgresJs, /not postgres\.js: use drizzleStore on drizzle-orm\/pos/],
    ["a connection string", () => "mysql://127.0.0.1/none", /not a connection string/],
    ["a pool of pg", () => new pg.Pool(), /^pool must be a pool of mysql2 or mariadb/],
    ["nothing", () => undefined, /^pool must be a pool of mysql2 or mariadb/],
  ])("%s, and says what to use", (_, connect, message) => {
    const client = connect();
    expect(() => mysqlStore(client as never)).toThrow(message);
    expect(() => mysqlStore(client as never)).toThrow(INVALID);
  });

  it("a single connection of mysql2, with promises or without", () => {
    const connection = mysql.createConnection({ host: "127.0.0.1", port: 1 });
    connection.on("error", () => {});
    onTestFinished(() => connection.destroy());
    for (const client of [connection, connection.promise()]) {
      expect(() => mysqlStore(client as never)).toThrow(/not a single connection/);
    }
    for (const pool of [mysql.createPool({ port: 1 }), mysqlPromise.createPool({ port: 1 })]) {
      expect(() => mysqlStore(pool)).not.toThrow();
    }
  });
});

it("postgres.js is not taken for Bun's client", () => {
  const sql = connectPostgresJs();
  expect(isBunSql(sql)).toBe(false);
  expect(() => sqliteStore(sql as never)).toThrow(/^db must be a Database of better-sqlite3/);
});
