/** Overrides that are set and cleared inside a transaction. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../../../server/index.js";
import { changeDigest } from "../../../../../server/changes/change-digest.js";
import { OVERRIDES_DIGEST } from "../../../../../server/changes/overrides-digest.js";
import { stores } from "../../../../support/stores.js";
import { soon } from "../../../../support/soon.js";

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0 } as const;
const limits = {
  pictures: free,
  calls: { kind: "token bucket", rate: 40, period: MINUTE, shards: 4 },
} as const;
const ada = { key: "ada" } as const;
const failure = new Error("the payment has failed");

function inMemory(options: object = {}) {
  const clock = createManualClock(20_000 * DAY + 10 * HOUR);
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits,
    clock,
    overrides: true,
    ...options,
  });
  return { clock, limiter };
}

describe.each(stores)("an override in a transaction on %s", (_, open) => {
  async function setUp() {
    const { store, peer, [Symbol.asyncDispose]: close } = await open();
    const clock = createManualClock(20_000 * DAY + 10 * HOUR);
    const make = (of: typeof store, overridesFor: number) =>
      createRateLimiter({ store: of, clock, limits, overrides: true, overridesFor });
    // Its table may get an hour old, so it obeys what it was told.
    const limiter = make(store, HOUR);
    const other = make(peer, 0);
    await limiter.limit("pictures", { ...ada, count: 5 });
    return {
      clock,
      limiter,
      other,
      left: async (by = other) => (await by.getValue("pictures", ada)).value,
      [Symbol.asyncDispose]: close,
    };
  }

  it("is committed, and obeyed by later calls inside", async () => {
    await using at = await setUp();
    await at.limiter.transaction(async ({ overrides, limit, getValue }) => {
      await overrides.set("pictures", { ...ada, config: { ...free, rate: 50 } });
      expect((await getValue("pictures", ada)).value).toBe(45);
      expect(await limit("pictures", { ...ada, count: 15 })).toMatchObject({ ok: true, value: 30 });
      expect(await overrides.get("pictures", ada)).toMatchObject({ config: { rate: 50 } });
      await overrides.set("pictures", { ...ada, times: 2 });
      expect((await getValue("pictures", ada)).value).toBe(80);
      await overrides.clear("pictures", { ...ada, only: "config" });
      await overrides.set("pictures", { ...ada, times: 6 });
      expect(await overrides.list()).toMatchObject([{ times: 6 }]);
    });
    for (const by of [at.limiter, at.other]) expect(await at.left(by)).toBe(10);
    const cleared = at.limiter.transaction(async ({ overrides, getValue }) => [
      await overrides.clear("pictures", ada),
      await overrides.clear("pictures", ada),
      (await getValue("pictures", ada)).value,
    ]);
    expect(await cleared).toEqual([true, false, 0]);
    for (const by of [at.limiter, at.other]) expect(await at.left(by)).toBe(0);
  });

  it("is rolled back as if nothing had been", async () => {
    await using at = await setUp();
    await at.other.overrides.set("pictures", { key: "bob", times: 2 });
    const failing = at.limiter.transaction(async ({ overrides, limit }) => {
      await overrides.set("pictures", { ...ada, times: 10 });
      await overrides.clear("pictures", { key: "bob" });
      expect(await limit("pictures", ada)).toMatchObject({ ok: true, value: 44 });
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    for (const by of [at.limiter, at.other]) {
      expect(await at.left(by)).toBe(0);
      expect(await by.overrides.list()).toMatchObject([{ key: "bob", times: 2 }]);
      expect(await by.limit("pictures", ada)).toMatchObject({ ok: false });
    }
  });

  it("is a part of a transaction of the application, and seen by all calls that join it", async () => {
    await using at = await setUp();
    const change = (isPaid: boolean) =>
      at.limiter.transaction(async ({ tx }) => {
        const { overrides, limit } = at.limiter.using(tx);
        await overrides.set("pictures", { ...ada, times: 10 });
        expect(await limit("pictures", ada)).toMatchObject({ ok: true, value: 44 });
        const again = at.limiter.using(tx);
        expect(await again.limit("pictures", ada)).toMatchObject({ ok: true, value: 43 });
        if (!isPaid) throw failure;
      });
    await expect(change(false)).rejects.toBe(failure);
    for (const by of [at.limiter, at.other]) expect(await at.left(by)).toBe(0);
    await change(true);
    for (const by of [at.limiter, at.other]) expect(await at.left(by)).toBe(43);
    await at.limiter.transaction(async ({ tx, overrides }) => {
      await overrides.clear("pictures", ada);
      expect((await at.limiter.using(tx).getValue("pictures", ada)).value).toBe(0);
    });
  });

  it("counts for all shards", async () => {
    await using at = await setUp();
    await at.limiter.limit("calls", { ...ada, count: 15 });
    await at.limiter.transaction(({ overrides }) => overrides.set("calls", { ...ada, times: 2 }));
    expect((await at.other.getValue("calls", ada)).value).toBe(65);
  });

  it("moves once where several set it at the same time", async () => {
    await using at = await setUp();
    const times = [3, 4, 5, 6];
    await Promise.all(
      times.map((each, i) =>
        (i % 2 ? at.limiter : at.other).transaction(({ overrides }) =>
          overrides.set("pictures", { ...ada, times: each }),
        ),
      ),
    );
    const last = (await at.other.overrides.get("pictures", ada))!.times!;
    expect(times).toContain(last);
    expect(await at.left()).toBe(5 * last - 5);
  });

  it("is not sent after the end, and is awaited before it", async () => {
    await using at = await setUp();
    let late: Promise<unknown> = Promise.resolve();
    let operations: (typeof at.limiter)["overrides"];
    const failing = at.limiter.transaction(async ({ overrides }) => {
      operations = overrides;
      late = overrides.set("pictures", { ...ada, times: 10 }).catch(() => {});
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    await late;
    expect(await at.other.overrides.list()).toEqual([]);
    expect(await at.left()).toBe(0);
    if (_ === "memory") return;
    await expect(operations!.set("pictures", { ...ada, times: 10 })).rejects.toThrow(/ended/);
    await at.limiter.transaction(async ({ overrides }) => {
      void overrides.set("pictures", { ...ada, times: 10 });
    });
    expect(await at.left()).toBe(45);
  });
});

describe("an override in a transaction", () => {
  it("is told to listeners after the commit, and to none after a rollback", async () => {
    const { limiter } = inMemory();
    const heard: string[] = [];
    limiter.onChange((digest) => void heard.push(digest));
    await limiter.transaction(async ({ overrides }) => {
      await overrides.set("pictures", { ...ada, times: 2 });
      expect(heard).toEqual([]);
    });
    expect(heard).toEqual([OVERRIDES_DIGEST]);
    const failing = limiter.transaction(async ({ overrides }) => {
      await overrides.clear("pictures", ada);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(heard).toEqual([OVERRIDES_DIGEST]);
  });

  it("of the application is told when its commit is seen, and never before", async () => {
    const { limiter } = inMemory({ overridesFor: HOUR });
    const heard: string[] = [];
    limiter.onChange((digest) => void heard.push(digest));
    let commit = () => {};
    let open: Promise<void>;
    await new Promise<void>((isSet) => {
      open = limiter.transaction(async ({ tx }) => {
        await limiter.using(tx).overrides.set("pictures", { ...ada, times: 2 });
        isSet();
        await new Promise<void>((resolve) => (commit = resolve));
      });
    });
    // The table is read by each call, and has not changed.
    expect(await limiter.check("pictures", { ...ada, count: 5 })).toMatchObject({ ok: true });
    expect((await limiter.getValue("pictures", ada)).value).toBe(5);
    expect(heard).toEqual([]);
    commit();
    await open!;
    await soon(() => expect(heard).toEqual([OVERRIDES_DIGEST]));
    expect((await limiter.getValue("pictures", ada)).value).toBe(10);
  });

  it("of the application that was rolled back is told to none", async () => {
    const { limiter } = inMemory({ overridesFor: HOUR });
    const heard: string[] = [];
    limiter.onChange((digest) => void heard.push(digest));
    const failing = limiter.transaction(async ({ tx }) => {
      await limiter.using(tx).overrides.set("pictures", { ...ada, times: 2 });
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    await limiter.limit("pictures", { ...ada, count: 5 });
    expect(await limiter.limit("pictures", ada)).toMatchObject({ ok: false });
    expect(heard).toEqual([changeDigest("pictures", "ada")]);
  });

  it("is refused where the limiter has none, and where the table cannot join", async () => {
    const { limiter } = inMemory({ overrides: false });
    const set = (of: typeof limiter) =>
      of.transaction(({ overrides }) => overrides.set("pictures", { ...ada, times: 2 }));
    await expect(set(limiter)).rejects.toThrow("give createRateLimiter the option overrides: true");
    const store = memoryStore();
    const { readWithin: _, writeWithin: __, ...table } = store.overrides!;
    const { limiter: apart } = inMemory({ store: { ...store, overrides: table } });
    await expect(set(apart)).rejects.toThrow("does not support overrides in a transaction");
    await apart.overrides.set("pictures", { ...ada, times: 2 });
  });

  it("rejects what cannot work, and the transaction goes on", async () => {
    const { limiter } = inMemory();
    await limiter.transaction(async ({ overrides, limit }) => {
      await expect(overrides.set("pictures", { ...ada, times: 0 })).rejects.toThrow(/times/);
      await expect(overrides.set("films" as "calls", { times: 2 })).rejects.toThrow(/films/);
      expect(await limit("pictures", ada)).toMatchObject({ ok: true });
    });
  });
});
