/** Tests that need no Durable Object. `test/runtimes/workers` runs the store in one. */
import { describe, expect, it } from "vitest";
import { durableStore } from "../../../../server/index.js";

const storage = {
  sql: { exec: () => ({ toArray: () => [], rowsWritten: 0 }) },
  transactionSync: <TResult>(run: () => TResult) => run(),
};

describe("durableStore", () => {
  it("says what to pass instead of something that is no storage with SQLite", () => {
    const binding = { prepare() {}, batch() {}, exec() {} };
    const withoutSqlite = {
      get sql(): never {
        throw new Error("SQL is not enabled for this Durable Object class.");
      },
      transactionSync() {},
    };
    const refused: [given: unknown, message: RegExp][] = [
      [undefined, /^storage must be the storage of a Durable Object with SQLite, such as ctx\.st/],
      [{ storage }, /such as ctx\.storage, and not ctx itself/],
      [binding, /use d1Store for a binding to D1/],
      [withoutSqlite, /declare the class of the object under new_sqlite_classes/],
    ];
    for (const [given, message] of refused) {
      expect(() => durableStore(given as never)).toThrow(message);
      expect(() => durableStore(given as never)).toThrow(
        expect.objectContaining({ kind: "InvalidConfig" }),
      );
    }
  });

  it("refuses an isolation", () => {
    expect(() => durableStore(storage, { isolation: "serializable" } as never)).toThrow(
      /isolation must be left out: decisions of a Durable Object run one after the other/,
    );
  });
});
