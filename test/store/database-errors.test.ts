import { describe, expect, it } from "vitest";
import { isBusy, isDuplicate, isWriteConflict } from "../../server/store/sql/database-errors.js";

/** The two shapes in which Prisma 7 reports a conflict. */
const raw = (cause: object) => ({ code: "P2010", meta: { driverAdapterError: { cause } } });
const atCommit = (cause: object) => ({ name: "DriverAdapterError", cause });

describe("the recognition of database errors", () => {
  it.each<[string, unknown]>([
    ["an ORM query", { code: "P2034" }],
    ["a raw query", raw({ kind: "TransactionWriteConflict" })],
    ["a COMMIT", atCommit({ kind: "TransactionWriteConflict", originalCode: "40001" })],
    ["a deadlock", atCommit({ kind: "postgres", originalCode: "40P01" })],
    ["a locked row", raw({ kind: "postgres", originalCode: "55P03" })],
    ["MySQL", raw({ kind: "mysql", originalCode: "1213" })],
    ["mysql2 or mariadb", { code: "ER_LOCK_DEADLOCK", errno: 1213 }],
  ])("reports a write conflict for the error of %s", (_source, error) => {
    expect(isWriteConflict(error)).toBe(true);
  });

  it.each<[string, unknown]>([
    ["a lost connection", { code: "P1017" }],
    ["a connection that timed out, perhaps after a write", { code: "P1008" }],
    ["a transaction that has expired", { code: "P2028" }],
    ["a missing table", raw({ kind: "postgres", originalCode: "42P01" })],
    ["a duplicate key", raw({ kind: "UniqueConstraintViolation", originalCode: "1062" })],
    ["a duplicate key, from mysql2 or mariadb", { code: "ER_DUP_ENTRY", errno: 1062 }],
    ["a value that is not an object", "P2034"],
    ["undefined", undefined],
  ])("reports no write conflict for %s", (_source, error) => {
    expect(isWriteConflict(error)).toBe(false);
  });

  it("recognises both shapes of SQLite's busy error", () => {
    expect(isBusy({ code: "P1008" })).toBe(true);
    expect(isBusy(raw({ kind: "sqlite", message: "SQLITE_BUSY: database is locked" }))).toBe(true);
    expect(isBusy({ code: "P2010" })).toBe(false);
  });

  it("tells a duplicate key from a conflict", () => {
    expect(isDuplicate(raw({ kind: "mysql", originalCode: "1062" }))).toBe(true);
    expect(isDuplicate({ code: "ER_DUP_ENTRY", errno: 1062 })).toBe(true);
    expect(isDuplicate(raw({ kind: "mysql", originalCode: "1213" }))).toBe(false);
  });

  it("stops when the chain of causes is a cycle", () => {
    const error: { cause?: unknown } = {};
    error.cause = error;
    expect(isWriteConflict(error)).toBe(false);
  });
});
