/** `d1Store` on miniflare's D1, from this process. */
import { afterAll, describe, expect, it } from "vitest";
import {
  createRateLimiter,
  type D1DatabaseLike,
  d1Store,
  type Decision,
  MINUTE,
  type RateLimitStore,
  type RowId,
} from "../../../server/index.js";
import type { Row } from "../../../core/rows/row.js";
import { describeStore } from "../../server/store/contract.js";
import { emptyD1 } from "./d1-database.js";
import { hasWorkerd, NO_WORKERD } from "./start-worker.js";

const d1 = emptyD1();
afterAll(() => d1[Symbol.asyncDispose]());

/** The statements that were sent: one list for each round trip, without probes of a slow database. */
interface Recorded {
  db: D1DatabaseLike;
  sent: { text: string; params: readonly unknown[] }[][];
}

/** Two bindings, each an object of its own, as in two processes. */
async function bindings(): Promise<[Recorded, Recorded]> {
  const db = await d1.open();
  return [recorded(db), recorded(db)];
}

function recorded(db: D1DatabaseLike): Recorded {
  const sent: Recorded["sent"] = [];
  const bound = new WeakMap<object, { text: string; params: readonly unknown[] }>();
  const wrap = (text: string, params: readonly unknown[]) => {
    const real = db.prepare(text);
    const statement = params.length > 0 ? real.bind(...(params as never[])) : real;
    const wrapped = {
      bind: (...given: never[]) => wrap(text, given),
      all: () => {
        if (text !== "SELECT 1") sent.push([{ text, params }]);
        return statement.all();
      },
      statement,
    };
    bound.set(wrapped, { text, params });
    return wrapped;
  };
  return {
    sent,
    db: {
      prepare: (text) => wrap(text, []),
      batch(statements) {
        const all = statements as unknown as ReturnType<typeof wrap>[];
        sent.push(all.map((each) => bound.get(each)!));
        return db.batch(all.map(({ statement }) => statement) as never[]);
      },
      exec: (text) => db.exec(text),
    },
  };
}

/** The contract skips its transactions for a store that does not offer them. */
function single({
  transaction: _transaction,
  using: _using,
  ...store
}: RateLimitStore): RateLimitStore {
  return store;
}

const limits = {
  a: { kind: "token bucket", rate: 10, period: MINUTE },
  b: { kind: "fixed window", rate: 10, period: MINUTE },
} as const;
const clock = () => Date.UTC(2030, 0, 1);

const limiterOn = (db: D1DatabaseLike) =>
  createRateLimiter({ store: d1Store(db), limits, clock, timeout: 30_000, logger: false });

const at = (key: string): RowId => ({ name: "n", key, shard: 0 });
const [five, four] = [
  { used: 5, ts: 1 },
  { used: 4, ts: 2 },
];

if (!hasWorkerd) {
  it("d1Store passes the contract of stores on D1", ({ skip }) => skip(NO_WORKERD));
} else {
  describeStore("d1Store", async () => {
    const [store, peer] = (await bindings()).map(({ db }) => single(d1Store(db)));
    return { store: store!, peer: peer!, close: async () => {} };
  });

  describe("d1Store", () => {
    it("decides each call in one statement or one batch, after one that checks the table", async () => {
      const [{ db, sent }] = await bindings();
      const limiter = limiterOn(db);
      const trips = async (run: () => Promise<unknown>) => {
        sent.length = 0;
        await run();
        return sent.map((trip) => trip.length);
      };
      expect(await trips(() => limiter.limit("a"))).toEqual([1, 1]);
      expect(await trips(() => limiter.limit("a"))).toEqual([1]);
      expect(await trips(() => limiter.check("a"))).toEqual([1]);
      // A read, and then a write that guards both rows.
      const both = [{ name: "a" as const }, { name: "b" as const }];
      expect(await trips(() => limiter.limitAll(both))).toEqual([1, 1]);
      const mixed = () => Promise.all([limiter.limitAll(both), limiter.reset("a")]);
      expect(await trips(mixed)).toEqual([1, 2]);
      expect((await limiter.getValue("a")).value).toBe(10);
      expect((await limiter.getValue("b")).value).toBe(8);
    });

    it("checks the table once for all stores on a binding", async () => {
      const [{ db, sent }] = await bindings();
      await limiterOn(db).limit("a");
      sent.length = 0;
      expect((await limiterOn(db).limit("a")).ok).toBe(true);
      expect(sent).toHaveLength(1);
    });

    it("sends at most 100 parameters, whatever the number of rows", async () => {
      const [{ db, sent }] = await bindings();
      const limiter = limiterOn(db);
      const keys = Array.from({ length: 500 }, (_, i) => `${i}`);
      await limiter.limitAll(keys.map((key) => ({ name: "a", key })));
      await Promise.all(keys.map((key, i) => limiter.limit(i % 2 === 0 ? "a" : "b", { key })));
      await Promise.all(keys.map((key) => limiter.reset("a", { key })));
      const counts = sent.flat().map(({ params }) => params.length);
      expect(Math.max(...counts)).toBeLessThanOrEqual(100);
    });

    const write = (
      rows: readonly RowId[],
      writes: readonly (Row | null)[],
      seen?: (states: readonly unknown[]) => void,
    ): Decision<void> => ({
      rows,
      decide(states) {
        seen?.(states);
        return { result: undefined, writes };
      },
    });
    const keys = ["inserted", "updated", "deleted", "absent"];
    const rowsOf = async (db: D1DatabaseLike) => {
      const { results } = await db
        .prepare('SELECT "key", "used" FROM "RateLimit" ORDER BY "key"')
        .all();
      return (results as { key: string; used: number }[]).map(({ key, used }) => [key, used]);
    };

    it("inserts, updates and deletes rows of one decision together", async () => {
      const [{ db }] = await bindings();
      const store = d1Store(db);
      await store.apply([write([at("updated"), at("deleted")], [five, five])]);
      await store.apply([write(keys.map(at), [four, four, null, null])]);
      expect(await rowsOf(db)).toEqual([
        ["inserted", 4],
        ["updated", 4],
      ]);
    });

    it.each(keys)("decides again if the row %s has changed meanwhile", async (key) => {
      const [{ db }, { db: other }] = await bindings();
      const [store, peer] = [d1Store(db), d1Store(other)];
      await store.apply([write([at("updated"), at("deleted")], [five, five])]);
      let change: Promise<unknown> | undefined;
      const before: (number | undefined)[][] = [];
      // The other store writes between the read and the write of this store.
      const slow = recorded({
        prepare: (text) => db.prepare(text),
        exec: (text) => db.exec(text),
        async batch(statements) {
          await (change ??= peer.apply([write([at(key)], [{ used: 9, ts: 9 }])]));
          return db.batch(statements);
        },
      });
      await d1Store(slow.db).apply([
        write(keys.map(at), [four, four, null, null], (states) =>
          before.push((states as (Row | null)[]).map((state) => state?.used)),
        ),
      ]);
      const first = [undefined, 5, 5, undefined];
      expect(before).toEqual([first, first.with(keys.indexOf(key), 9)]);
      expect(await rowsOf(db)).toEqual([
        ["inserted", 4],
        ["updated", 4],
      ]);
    });

    it("guards a row that does not exist", async () => {
      const [{ db }, { db: other }] = await bindings();
      const stores = [d1Store(db), d1Store(other)];
      const claim = (own: RowId, theirs: RowId): Decision<boolean> => ({
        rows: [own, theirs],
        decide: ([, claimed]) =>
          claimed ? { result: false } : { result: true, writes: [five, null] },
      });
      for (let round = 0; round < 20; round++) {
        const [a, b] = [at(`a ${round}`), at(`b ${round}`)];
        const answers = await Promise.all([
          stores[0]!.apply([claim(a!, b!)]),
          stores[1]!.apply([claim(b!, a!)]),
        ]);
        expect(answers.flat().filter(Boolean)).toHaveLength(1);
      }
    });

    it("settles, refunds, charges, blocks, lists and prunes", async () => {
      const [{ db }] = await bindings();
      const limiter = createRateLimiter({
        store: d1Store(db),
        limits: { ...limits, strict: { ...limits.a, rate: 1, blockFor: 10 * MINUTE } },
        clock,
      });
      const value = async (name: "a" | "strict") =>
        (await limiter.getValue(name, { key: "k" })).value;
      const result = await limiter.limit("a", { key: "k", count: 6 });
      await limiter.settle(result, 2.5);
      expect(await value("a")).toBe(7.5);
      await limiter.refund("a", { key: "k", count: 1 });
      await limiter.charge("a", { key: "k", count: 20 });
      expect(await value("a")).toBe(-11.5);
      await limiter.reset("a", { key: "k" });
      expect(await value("a")).toBe(10);
      expect((await limiter.limit("strict", { key: "k" })).ok).toBe(true);
      expect(await limiter.limit("strict", { key: "k" })).toMatchObject({
        ok: false,
        // At that time, one token refills.
        retryAfter: 11 * MINUTE,
      });
      const { items } = await limiter.list("strict");
      expect(items.map(({ key }) => key)).toEqual(["k"]);
      await db.prepare(`INSERT INTO "RateLimit" VALUES ('b', 'old', 0, 10, 0)`).all();
      expect(await limiter.prune()).toBe(1);
    });

    it("says that it has no transactions, and what to do instead", async () => {
      const [{ db }] = await bindings();
      const limiter = limiterOn(db);
      const instead =
        /D1 has no interactive transactions; call limit\(\) first, write by db\.batch/;
      await expect(limiter.transaction(({ limit }) => limit("a"))).rejects.toThrow(instead);
      expect(() => limiter.using(undefined as never)).toThrow(instead);
      expect(() => d1Store(db, { isolation: "serializable" } as never)).toThrow(
        /isolation must be left out: D1 has no interactive transactions/,
      );
    });

    it("names a table that is missing, and the migration", async () => {
      const [{ db }] = await bindings();
      const limiter = createRateLimiter({ store: d1Store(db, { table: "limits" }), limits });
      await expect(limiter.limit("a")).rejects.toThrow(
        /table "limits" does not exist .*prisma\/migrations/,
      );
    });

    it("accepts the binding itself, as a worker has it", async () => {
      const db = await d1.open();
      expect((await limiterOn(db).limit("a", { key: "bare" })).ok).toBe(true);
    });
  });
}
