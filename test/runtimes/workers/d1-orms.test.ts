/** `drizzleStore` and `prismaStore` on miniflare's D1, from this process. */
import { createRequire } from "node:module";
import { drizzle } from "drizzle-orm/d1";
import { afterAll, describe, expect, it } from "vitest";
import { PrismaClient } from "../../../prisma/generated/client/client.js";
import { drizzleStore } from "../../../server/drizzle/index.js";
import {
  createRateLimiter,
  type D1DatabaseLike,
  MINUTE,
  prismaStore,
  type RateLimitStore,
} from "../../../server/index.js";
import { describeStore } from "../../server/store/contract.js";
import { emptyD1 } from "./d1-database.js";
import { hasWorkerd, NO_WORKERD } from "./start-worker.js";

const d1 = emptyD1();
afterAll(() => d1[Symbol.asyncDispose]());

type Adapter = ConstructorParameters<typeof PrismaClient>[0]["adapter"];

function prismaOn(db: D1DatabaseLike) {
  const load = createRequire(import.meta.url);
  const { PrismaD1 } = load("@prisma/adapter-d1") as {
    PrismaD1: new (binding: D1DatabaseLike) => NonNullable<Adapter>;
  };
  return new PrismaClient({ adapter: new PrismaD1(db) });
}

const drizzleOn = (db: D1DatabaseLike) => drizzle(db as never);

const KINDS: [name: string, open: (db: D1DatabaseLike) => RateLimitStore<never>][] = [
  ["drizzleStore", (db) => drizzleStore(drizzleOn(db)) as RateLimitStore<never>],
  ["prismaStore", (db) => prismaStore(prismaOn(db)) as RateLimitStore<never>],
];

const limits = {
  a: { kind: "token bucket", rate: 10, period: MINUTE },
  b: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;
const both = [{ name: "a" as const }, { name: "b" as const }];

if (!hasWorkerd) {
  it("the stores of ORMs pass the contract of stores on D1", ({ skip }) => skip(NO_WORKERD));
} else {
  describe.each(KINDS)("on D1, %s", (name, open) => {
    const openTwo = async () => {
      const db = await d1.open();
      return [open(db), open(db)] as const;
    };

    describeStore(name, async () => {
      const [store, peer] = (await openTwo()).map(
        // The contract skips its transactions for a store that does not offer them.
        ({ transaction: _transaction, using: _using, ...single }) => single as RateLimitStore,
      );
      return { store: store!, peer: peer!, close: async () => {} };
    });

    it("charges several limits together, also beside a reset", async () => {
      const stores = await openTwo();
      const made = stores.map((store) =>
        createRateLimiter({ store, limits, clock: () => 0, timeout: 30_000, logger: false }),
      );
      const calls = Array.from({ length: 24 }, (_, i) =>
        made[i % 2]!.limitAll(i % 3 === 0 ? both.toReversed() : both),
      );
      expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(10);
      const key = "k";
      const ofKey = both.map((item) => ({ ...item, key }));
      await made[0]!.limit("a", { key, count: 4 });
      await Promise.all([made[0]!.limitAll(ofKey), made[0]!.reset("a", { key })]);
      expect((await made[1]!.getValue("a", { key })).value).toBe(10);
      expect((await made[1]!.getValue("b", { key })).value).toBe(9);
    });

    it("refuses what needs a transaction, and says what to do instead", async () => {
      const [store] = await openTwo();
      const limiter = createRateLimiter({ store, limits, logger: false });
      const instead = /D1 has no interactive transactions; call limit\(\) first/;
      await expect(limiter.transaction(({ limit }) => limit("a"))).rejects.toThrow(instead);
      expect(() => limiter.using({} as never)).toThrow(instead);
    });
  });

  it("the stores of ORMs refuse Serializable decisions on D1", async () => {
    const db = await d1.open();
    const isolation = "serializable";
    expect(() => drizzleStore(drizzleOn(db), { isolation })).toThrow(/isolation must be left out/);
    expect(() => prismaStore(prismaOn(db), { isolation })).toThrow(/isolation must be left out/);
  });
}
