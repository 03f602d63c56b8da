/**
 * `drizzleStore` on `drizzle-orm/neon-http`: one request per statement, and no transactions. The project
 * `drizzle-1` of `vitest.config.ts` runs the same tests on Drizzle 1.0.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DrizzleLike, drizzleStore } from "../../../server/drizzle/index.js";
import { createRateLimiter, DAY } from "../../../server/index.js";
import { describeStore } from "../../server/store/contract.js";
import { hasNeon, importOfProject, NO_NEON, type StartedNeon, startNeon } from "./start-neon.js";

const drizzleOrm = process.env["DRIZZLE_VERSION"] === "1" ? "drizzle-orm-1" : "drizzle-orm";

interface NeonHttpDatabase extends DrizzleLike {
  /** The same database, which sends a token with each statement. */
  $withAuth(token: string): NeonHttpDatabase;
}

describe.skipIf(!hasNeon)(`drizzleStore on ${drizzleOrm}/neon-http (${NO_NEON})`, () => {
  let neon: StartedNeon;
  let connect: () => NeonHttpDatabase;
  beforeAll(async () => {
    neon = await startNeon();
    const { drizzle } = await importOfProject<{
      drizzle(config: { client: object }): NeonHttpDatabase;
    }>(`${drizzleOrm}/neon-http`);
    connect = () => drizzle({ client: neon.connect() });
  });
  afterAll(() => neon[Symbol.asyncDispose]());

  describeStore(`drizzleStore on ${drizzleOrm}/neon-http`, async () => {
    await neon.pool.query('DELETE FROM "RateLimit"');
    const [store, peer] = [1, 2].map(() => {
      // The contract skips its transactions for a store that does not offer them.
      const { transaction: _ignored, using: _unused, ...single } = drizzleStore(connect());
      return single;
    });
    return { store: store!, peer: peer!, close: async () => {} };
  });

  const limits = { send: { kind: "fixed window", rate: 37, period: DAY, start: 0 } } as const;
  const create = (db = connect()) =>
    createRateLimiter({ store: drizzleStore(db), limits, timeout: 30_000 });

  it("grants exactly 37 of 200 calls of several limiters", async () => {
    const limiters = Array.from({ length: 5 }, () => create());
    for (const key of ["a", "b", "c"]) {
      const calls = Array.from({ length: 200 }, (_, i) => limiters[i % 5]!.limit("send", { key }));
      expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(37);
    }
  });

  it("refuses transactions, in words", async () => {
    const limiter = create();
    await expect(limiter.transaction(async () => {})).rejects.toThrow(
      "transaction() needs a transaction, and this driver has none; use one that keeps a connection",
    );
    expect(() => limiter.using({} as never)).toThrow("using() needs a transaction");
    expect(() => drizzleStore(connect(), { isolation: "serializable" })).toThrow(
      "NeonHttpSession of drizzle-orm has no transactions, so leave isolation out",
    );
  });

  it("sends the token of $withAuth with each statement", async () => {
    const before = neon.tokens.size;
    const limiter = create(connect().$withAuth("token-of-the-application"));
    expect(await limiter.limit("send", { key: "with a token" })).toMatchObject({ ok: true });
    expect([...neon.tokens].slice(before)).toEqual(["Bearer token-of-the-application"]);
  });
});
