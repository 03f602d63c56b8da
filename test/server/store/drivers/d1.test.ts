/** Tests that need no D1. `test/runtimes/workers` runs the store on a D1. */
import { createClient } from "@libsql/client";
import { drizzle } from "drizzle-orm/d1";
import { describe, expect, it } from "vitest";
import { createRateLimiter, d1Store, MINUTE } from "../../../../server/index.js";
import { createSqlite } from "../../../support/database.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

/** Looks like a binding. Each statement fails with this message. */
function failing(message: string) {
  let sent = 0;
  const statement = {
    bind: () => statement,
    all: async () => {
      sent++;
      throw new Error(message);
    },
  };
  const db = { prepare: () => statement, batch: async () => [], exec: async () => {} };
  return { db, sent: () => sent };
}

describe("d1Store", () => {
  it("says what to pass instead of something that is no binding", async () => {
    await using database = await createSqlite();
    const { db } = failing("");
    const session = { prepare() {}, batch() {}, getBookmark() {} };
    const refused: [given: unknown, message: RegExp][] = [
      [undefined, /^db must be a binding to D1, such as env\.DB/],
      ["DB", /must be a binding to D1, such as env\.DB/],
      [{ DB: db }, /must be a binding to D1, such as env\.DB/],
      [session, /not a session of it, whose reads may be stale/],
      [drizzle(db as never), /not a Drizzle database: use drizzleStore, or env\.DB/],
      [database.prisma, /not a Prisma client: pass env\.DB/],
      [createClient({ url: "file::memory:" }), /must be a binding to D1/],
      [{ sql: {}, transactionSync() {} }, /use durableStore\(ctx\.storage\)/],
    ];
    for (const [given, message] of refused) {
      expect(() => d1Store(given as never)).toThrow(message);
      expect(() => d1Store(given as never)).toThrow(
        expect.objectContaining({ kind: "InvalidConfig" }),
      );
    }
  });

  it("tries again while D1 is busy, and not after other errors", async () => {
    const busy = failing("D1_ERROR: database is locked: SQLITE_BUSY");
    const lost = failing("D1_ERROR: Network connection lost.");
    const [waiting, failed] = [busy, lost].map(({ db }) =>
      createRateLimiter({ store: d1Store(db), limits, timeout: 300, logger: false }),
    );
    await expect(failed!.limit("few")).rejects.toThrow("Network connection lost.");
    await expect(waiting!.limit("few")).rejects.toMatchObject({ kind: "StoreFailure" });
    expect(busy.sent()).toBeGreaterThan(lost.sent());
  });
});
