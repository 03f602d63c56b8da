/** `pgStore` on the function of `neon()`: one request per statement, and no transactions. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimiter, DAY, pgStore } from "../../../server/index.js";
import { describeStore } from "../../server/store/contract.js";
import { hasNeon, NO_NEON, type StartedNeon, startNeon } from "./start-neon.js";

describe.skipIf(!hasNeon)(`pgStore on neon() (${NO_NEON})`, () => {
  let neon: StartedNeon;
  beforeAll(async () => {
    neon = await startNeon();
  });
  afterAll(() => neon[Symbol.asyncDispose]());

  describeStore("pgStore on neon()", async () => {
    await neon.pool.query('DELETE FROM "RateLimit"');
    const [store, peer] = [1, 2].map(() => {
      // The contract skips its transactions for a store that does not offer them.
      const { transaction: _ignored, using: _unused, ...single } = pgStore(neon.connect());
      return single;
    });
    return { store: store!, peer: peer!, close: async () => {} };
  });

  const limits = { send: { kind: "fixed window", rate: 37, period: DAY, start: 0 } } as const;
  const create = () =>
    createRateLimiter({ store: pgStore(neon.connect()), limits, timeout: 30_000 });

  it("grants exactly 37 of 60 calls of several limiters", async () => {
    const limiters = Array.from({ length: 4 }, create);
    const calls = Array.from({ length: 60 }, (_, i) =>
      limiters[i % 4]!.limit("send", { key: "many" }),
    );
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(37);
  });

  it("refuses transactions, in words", async () => {
    const limiter = create();
    await expect(limiter.transaction(async () => {})).rejects.toThrow(
      "transaction() needs a transaction, and this driver has none; use one that keeps a connection",
    );
    expect(() => limiter.using({} as never)).toThrow("using() needs a transaction");
    expect(() => pgStore(neon.connect(), { isolation: "serializable" })).toThrow(
      "isolation must be left out: the driver has no transactions",
    );
  });
});
