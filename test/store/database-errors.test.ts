import { describe, expect, it } from "vitest";
import { isBusy, isDuplicate, isWriteConflict } from "../../server/store/sql/database-errors.js";

/** The shapes in which Prisma 7 hands on one and the same conflict. */
const raw = (cause: object) => ({ code: "P2010", meta: { driverAdapterError: { cause } } });
const atCommit = (cause: object) => ({ name: "DriverAdapterError", cause });

describe("a conflict", () => {
  it.each<[string, unknown]>([
    ["of an ORM query", { code: "P2034" }],
    ["of a raw query", raw({ kind: "TransactionWriteConflict" })],
    ["at COMMIT", atCommit({ kind: "TransactionWriteConflict", originalCode: "40001" })],
    ["that is a deadlock", atCommit({ kind: "postgres", originalCode: "40P01" })],
    ["over a locked row", raw({ kind: "postgres", originalCode: "55P03" })],
    ["of MySQL", raw({ kind: "mysql", originalCode: "1213" })],
  ])("%s is recognised", (_where, error) => {
    expect(isWriteConflict(error)).toBe(true);
  });

  it.each<[string, unknown]>([
    ["a lost connection", { code: "P1017" }],
    ["a connection that went silent, perhaps after a write", { code: "P1008" }],
    ["a transaction that has expired", { code: "P2028" }],
    ["a missing table", raw({ kind: "postgres", originalCode: "42P01" })],
    ["a duplicate", raw({ kind: "UniqueConstraintViolation", originalCode: "1062" })],
    ["no object at all", "P2034"],
    ["nothing", undefined],
  ])("is not %s", (_what, error) => {
    expect(isWriteConflict(error)).toBe(false);
  });

  it("is SQLite's being busy, in both its shapes", () => {
    expect(isBusy({ code: "P1008" })).toBe(true);
    expect(isBusy(raw({ kind: "sqlite", message: "SQLITE_BUSY: database is locked" }))).toBe(true);
    expect(isBusy({ code: "P2010" })).toBe(false);
  });

  it("is told from a duplicate", () => {
    expect(isDuplicate(raw({ kind: "mysql", originalCode: "1062" }))).toBe(true);
    expect(isDuplicate(raw({ kind: "mysql", originalCode: "1213" }))).toBe(false);
  });

  it("is looked for in no endless chain of causes", () => {
    const error: { cause?: unknown } = {};
    error.cause = error;
    expect(isWriteConflict(error)).toBe(false);
  });
});
