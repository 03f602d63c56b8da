/** Errors of a database that works, and errors that say that the database is away. */
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../../server/store/sql/dialects.js";
import { storeError } from "../../../../server/store/sql/store-error.js";
import type { DialectName } from "../../../../server/store/sql/driver.js";
import {
  redisError,
  RedisLateError,
  RedisSetUpError,
} from "../../../../server/redis/redis-errors.js";

const nested = (originalCode: string) => ({
  code: "P2010",
  meta: { driverAdapterError: { cause: { kind: "postgres", originalCode } } },
});

const setUp: [DialectName, object][] = [
  ["postgresql", { code: "42P01" }],
  ["postgresql", { code: "42703" }],
  ["postgresql", { code: "42501" }],
  ["postgresql", { code: "28P01" }],
  ["postgresql", { code: "3D000" }],
  ["postgresql", nested("42703")],
  ["postgresql", { code: "P1010" }],
  ["postgresql", { code: "ERR_POSTGRES_SERVER_ERROR", errno: "42P01" }],
  ["mysql", { code: "ER_NO_SUCH_TABLE", errno: 1146, sqlState: "42S02" }],
  ["mysql", { code: "ER_BAD_FIELD_ERROR", errno: 1054 }],
  ["mysql", { errno: 1142 }],
  ["mysql", { errno: 1045 }],
  ["mysql", { errno: 1665 }],
  ["mysql", { code: "P2010", meta: { code: "1146" } }],
  ["sqlite", { code: "SQLITE_ERROR" }],
  ["sqlite", { code: "ERR_SQLITE_ERROR", errcode: 1 }],
  ["sqlite", { code: "SQLITE_READONLY_DBMOVED" }],
  ["sqlite", { message: "D1_ERROR: no such column: value: SQLITE_ERROR" }],
];

const away: [DialectName, object][] = [
  ["postgresql", { code: "ECONNREFUSED" }],
  ["postgresql", { code: "EPIPE" }],
  ["postgresql", { message: "Connection terminated unexpectedly" }],
  ["postgresql", { code: "57P01" }],
  ["postgresql", { code: "57P03" }],
  ["postgresql", { code: "08006" }],
  ["postgresql", { code: "53100" }],
  ["postgresql", { code: "25006" }],
  ["postgresql", { code: "XX000" }],
  ["postgresql", { code: "P1001" }],
  ["postgresql", nested("57P01")],
  ["mysql", { code: "PROTOCOL_CONNECTION_LOST", fatal: true }],
  ["mysql", { code: "ECONNREFUSED", errno: -111 }],
  ["mysql", { errno: 1053 }],
  ["mysql", { errno: 2013 }],
  ["mysql", { errno: 45_009 }],
  ["mysql", { errno: 1290 }],
  ["mysql", { errno: 1047 }],
  ["mysql", { errno: 1114 }],
  ["sqlite", { code: "SQLITE_IOERR_READ" }],
  ["sqlite", { code: "SQLITE_FULL" }],
  ["sqlite", { code: "ERR_SQLITE_ERROR", errcode: 14 }],
];

const isOutage = (dialect: DialectName, error: object) =>
  storeError(error, { name: "RateLimit" }, DIALECTS[dialect]).isOutage;

describe("an error that a database answers with", () => {
  it.each(setUp)("of %s is no outage if it works: %o", (dialect, error) => {
    expect(isOutage(dialect, error)).toBe(false);
  });

  it.each(away)("of %s is an outage if it says that it is away: %o", (dialect, error) => {
    expect(isOutage(dialect, error)).toBe(true);
  });

  it.each([
    ["ERR unknown command 'EVALSHA'", false],
    ["NOPERM this user has no permissions to run the 'eval' command", false],
    ["WRONGTYPE Operation against a key holding the wrong kind of value", false],
    ["OOM command not allowed when used memory > 'maxmemory'.", false],
    ["LOADING Redis is loading the dataset in memory", true],
    ["CLUSTERDOWN The cluster is down", true],
    ["READONLY You can't write against a read only replica.", true],
    ["Connection is closed.", true],
  ])("of Redis: %s", (message, expected) => {
    expect(redisError(new Error(message)).isOutage).toBe(expected);
  });

  it("of the check of Redis is none, and a call that came too late is one", () => {
    expect(redisError(new RedisSetUpError("maxmemory-policy is allkeys-lru")).isOutage).toBe(false);
    expect(redisError(new RedisLateError("too late")).isOutage).toBe(true);
  });
});
