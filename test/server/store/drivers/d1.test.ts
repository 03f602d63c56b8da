/** Tests that need no D1. `test/runtimes/workers` runs the store on a D1. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, d1Store, MINUTE } from "../../../../server/index.js";

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
