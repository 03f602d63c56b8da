/** A case for each shape in which drivers and ORMs report a conflict, and cases that look similar. */
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../../server/store/sql/dialects.js";
import type { DialectName } from "../../../../server/store/sql/driver.js";
import * as mysql from "../../../../server/store/sql/mysql/errors.js";
import * as postgresql from "../../../../server/store/sql/postgresql/errors.js";

/** Prisma 6 and 7: a raw query through an adapter, an ORM query, and a COMMIT. */
const raw = (cause: object) => ({ code: "P2010", meta: { driverAdapterError: { cause } } });
const orm = (code: string) => ({ code, meta: { modelName: "Message" } });
const atCommit = (cause: object) => ({ name: "DriverAdapterError", cause });
/** Prisma 6 without an adapter. */
const classic = (code: string) => ({ code: "P2010", meta: { code, message: "…" } });
/** Prisma 6.7 to 6.14 with an adapter. */
const WITHOUT_CODE = { code: "N/A", message: "Transaction write conflict" };
const drizzle = (cause: object) => ({ name: "DrizzleQueryError", query: "…", params: [], cause });

type Row = [dialect: DialectName, source: string, error: unknown];

const CONFLICTS: Row[] = [
  ["postgresql", "pg: a serialization failure", { code: "40001", severity: "ERROR" }],
  ["postgresql", "pg: a deadlock", { code: "40P01", severity: "ERROR" }],
  ["postgresql", "pg: a row that another transaction has locked", { code: "55P03" }],
  ["postgresql", "postgres.js", { name: "PostgresError", code: "40001", parameters: [] }],
  ["postgresql", "Drizzle", drizzle({ code: "40001" })],
  ["postgresql", "Prisma: an ORM query", orm("P2034")],
  ["postgresql", "Prisma: a raw query", raw({ kind: "TransactionWriteConflict" })],
  ["postgresql", "Prisma 6.7 to 6.14: a raw query", { code: "P2010", meta: WITHOUT_CODE }],
  ["postgresql", "Prisma: a locked row", raw({ kind: "postgres", originalCode: "55P03" })],
  ["postgresql", "Prisma: a deadlock", raw({ kind: "postgres", originalCode: "40P01" })],
  ["postgresql", "Prisma: COMMIT", atCommit({ kind: "TransactionWriteConflict" })],
  ["postgresql", "Prisma: a code at COMMIT", atCommit({ originalCode: "40001" })],
  ["postgresql", "Prisma 6 without an adapter", classic("40001")],
  ["postgresql", "Prisma 8: a query", { name: "SqlQueryError", sqlState: "40001" }],
  ["postgresql", "Prisma 8: COMMIT", { cause: { name: "SqlQueryError", sqlState: "40001" } }],
  ["mysql", "mysql2: a deadlock", { code: "ER_LOCK_DEADLOCK", errno: 1213, sqlState: "40001" }],
  ["mysql", "mysql2: a wait", { code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205, sqlState: "HY000" }],
  ["mysql", "mysql2: a row changed since read", { code: "ER_CHECKREAD", errno: 1020 }],
  ["mysql", "mysql2: NOWAIT", { code: "ER_LOCK_NOWAIT", errno: 3572, sqlState: "HY000" }],
  ["mysql", "mariadb: a deadlock, also of Galera", { name: "SqlError", errno: 1213, fatal: false }],
  ["mysql", "mariadb: a name without a number", { name: "SqlError", code: "ER_LOCK_DEADLOCK" }],
  ["mysql", "MySQL Group Replication", { errno: 3101, sqlState: "HY000" }],
  ["mysql", "Drizzle", drizzle({ code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205 })],
  ["mysql", "Prisma: a raw query", raw({ kind: "mysql", originalCode: "1205", code: 1205 })],
  ["mysql", "Prisma: a deadlock", raw({ kind: "TransactionWriteConflict", originalCode: "1213" })],
  ["mysql", "Prisma 6 without an adapter", classic("1213")],
  ["sqlite", "better-sqlite3", { name: "SqliteError", code: "SQLITE_BUSY" }],
  ["sqlite", "better-sqlite3: a stale snapshot", { code: "SQLITE_BUSY_SNAPSHOT" }],
  ["sqlite", "node:sqlite", { code: "ERR_SQLITE_ERROR", errcode: 5 }],
  ["sqlite", "node:sqlite: a stale snapshot", { code: "ERR_SQLITE_ERROR", errcode: 517 }],
  ["sqlite", "node:sqlite: a locked table", { code: "ERR_SQLITE_ERROR", errcode: 262 }],
  ["sqlite", "libsql", { code: "SQLITE_BUSY", rawCode: 5, extendedCode: "SQLITE_BUSY" }],
  ["sqlite", "libsql: a number alone", { code: "UNKNOWN", rawCode: 517 }],
  ["sqlite", "Drizzle on libsql", drizzle({ code: "SQLITE_BUSY", cause: { rawCode: 5 } })],
  ["sqlite", "Prisma: an ORM query", orm("P1008")],
  ["sqlite", "Prisma: a raw query", raw({ kind: "SocketTimeout", originalCode: "5" })],
  ["sqlite", "Prisma: an extended code", raw({ kind: "sqlite", extendedCode: 517 })],
  [
    "sqlite",
    "Prisma on libsql over HTTP",
    raw({ kind: "sqlite", extendedCode: 1, message: "SQLITE_BUSY: database is locked" }),
  ],
  ["sqlite", "Prisma 6 without an adapter", classic("5")],
];

const OTHERS: Row[] = [
  ["postgresql", "a statement that was cancelled or took too long", { code: "57014" }],
  ["postgresql", "a statement after a failed one", { code: "25P02" }],
  ["postgresql", "a transaction that may have been committed", { code: "40003" }],
  ["postgresql", "a server that shuts down", { code: "57P01" }],
  ["postgresql", "a server without free connections", { code: "53300" }],
  ["postgresql", "a lost connection", { code: "ECONNRESET", errno: -104, syscall: "read" }],
  ["postgresql", "a connection that Prisma has lost", orm("P1017")],
  ["postgresql", "a silent connection, perhaps after a write", orm("P1008")],
  ["postgresql", "the same of a raw query", raw({ kind: "SocketTimeout" })],
  ["postgresql", "a transaction that has expired", orm("P2028")],
  ["postgresql", "a missing table", raw({ kind: "TableDoesNotExist", originalCode: "42P01" })],
  ["postgresql", "a statement that Prisma's classic engine rejects", classic("42P01")],
  ["postgresql", "a code of SQLite", { code: "SQLITE_BUSY", errcode: 5 }],
  [
    "postgresql",
    "parameters that look like codes",
    drizzle({ message: "40001", params: ["40P01"] }),
  ],
  ["mysql", "a Galera node that has not joined its cluster", { errno: 1047, sqlState: "08S01" }],
  ["mysql", "a Galera node that left its cluster at COMMIT", { errno: 1180, sqlState: "HY000" }],
  ["mysql", "a statement that was killed", { code: "ER_QUERY_INTERRUPTED", errno: 1317 }],
  ["mysql", "a statement that took too long", { errno: 1969, sqlState: "70100" }],
  ["mysql", "a duplicate key", { code: "ER_DUP_ENTRY", errno: 1062, sqlState: "23000" }],
  ["mysql", "a lost connection", { code: "PROTOCOL_CONNECTION_LOST", fatal: true }],
  ["mysql", "a refused connection", { code: "ECONNREFUSED", errno: -111 }],
  ["sqlite", "a duplicate key", { code: "SQLITE_CONSTRAINT_PRIMARYKEY", rawCode: 1555 }],
  [
    "sqlite",
    "a message that mentions a conflict",
    raw({ kind: "sqlite", extendedCode: 1, message: "SQLITE_ERROR: no column SQLITE_BUSY" }),
  ],
  ["sqlite", "a read-only file", { code: "ERR_SQLITE_ERROR", errcode: 1032 }],
  ["sqlite", "a full disk", { code: "SQLITE_FULL", rawCode: 13 }],
  ["sqlite", "a code of an operating system", { code: "EIO", errno: -5 }],
  ["sqlite", "a connection that Prisma has lost", orm("P1017")],
  ["sqlite", "a value that is not an object", "SQLITE_BUSY"],
  ["sqlite", "null", null],
  ["sqlite", "undefined", undefined],
];

describe("a conflict", () => {
  it.each(CONFLICTS)("of %s is recognised in the shape of %s", (dialect, _source, error) => {
    expect(DIALECTS[dialect].errors.isConflict(error)).toBe(true);
  });

  it.each(OTHERS)("of %s is not seen in %s", (dialect, _source, error) => {
    expect(DIALECTS[dialect].errors.isConflict(error)).toBe(false);
  });

  it("is not looked for without end when the chain of causes is a cycle", () => {
    const error: { cause?: unknown; meta?: unknown } = {};
    error.cause = error;
    error.meta = { driverAdapterError: error };
    for (const { errors } of Object.values(DIALECTS)) expect(errors.isConflict(error)).toBe(false);
  });
});

describe("a wait for a lock that took too long", () => {
  it.each<[source: string, error: unknown]>([
    ["mysql2 and mariadb", { code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205, sqlState: "HY000" }],
    ["Prisma", raw({ kind: "mysql", originalCode: "1205" })],
    ["Drizzle", drizzle({ errno: 1205 })],
  ])("is recognised in the shape of %s", (_source, error) => {
    expect(mysql.isLockTimeout(error)).toBe(true);
    expect(mysql.isConflict(error)).toBe(true);
  });

  it("is not seen in a deadlock", () => {
    expect(mysql.isLockTimeout(raw({ kind: "mysql", originalCode: "1213" }))).toBe(false);
  });
});

describe("a number out of range", () => {
  it.each<[source: string, errors: typeof mysql | typeof postgresql, error: unknown]>([
    ["pg", postgresql, { code: "22003" }],
    ["Prisma 8", postgresql, { sqlState: "22003" }],
    ["Prisma", postgresql, raw({ kind: "ValueOutOfRange", originalCode: "22003" })],
    ["mysql2 and mariadb", mysql, { code: "ER_DATA_OUT_OF_RANGE", errno: 1690, sqlState: "22003" }],
    ["Prisma on MySQL", mysql, raw({ kind: "mysql", originalCode: "1690" })],
  ])("is recognised in the shape of %s", (_source, errors, error) => {
    expect(errors.isOutOfRange(error)).toBe(true);
    expect(errors.isConflict(error)).toBe(false);
  });
});

describe("a statement that was not run, because what was prepared is lost or does not fit", () => {
  it.each<[source: string, errors: typeof mysql | typeof postgresql, error: unknown]>([
    ["pg: a plan that does not fit the table any more", postgresql, { code: "0A000" }],
    ["pg: a name that is not there", postgresql, { code: "26000" }],
    ["pg: a name that is there already", postgresql, { code: "42P05" }],
    ["Prisma", postgresql, raw({ kind: "postgres", originalCode: "0A000", code: "0A000" })],
    ["Bun", postgresql, { code: "ERR_POSTGRES_SERVER_ERROR", errno: "26000" }],
    ["mysql2: unknown", mysql, { code: "ER_UNKNOWN_STMT_HANDLER", errno: 1243 }],
    ["mariadb: too many", mysql, { name: "SqlError", errno: 1461, fatal: false }],
    ["mariadb: to be prepared anew", mysql, { name: "SqlError", errno: 1615, fatal: false }],
    ["a proxy that prepares nothing", mysql, { code: "ER_UNSUPPORTED_PS", errno: 1295 }],
    ["Prisma on MariaDB", mysql, raw({ kind: "mysql", originalCode: "1243", code: 1243 })],
  ])("is recognised in the shape of %s", (_source, errors, error) => {
    expect(errors.isUnprepared(error)).toBe(true);
    expect(errors.isConflict(error)).toBe(false);
  });
});
