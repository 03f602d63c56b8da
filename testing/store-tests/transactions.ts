/**
 * Tests of decisions inside transactions: a decision is committed or rolled back together with its own
 * transaction.
 */
import type { RateLimitStore } from "../../server/store/store.js";
import type { StoreUnderTest } from "../store-under-test.js";
import { skipTest, type TestDefiner } from "../test-runner.js";
import { granted, read, reasonOf, row, take, times, write } from "./decisions.js";

const NONE = "this store has no transactions";

type Transact = NonNullable<RateLimitStore["transaction"]>;

export function testTransactions({ it, expect }: TestDefiner, opened: () => StoreUnderTest): void {
  /** Defines a test of a store with transactions. */
  const test = (title: string, run: (store: RateLimitStore, transact: Transact) => Promise<void>) =>
    it(title, async (...context: unknown[]) => {
      const { store } = opened();
      if (store.transaction === undefined) return skipTest(context, NONE);
      await run(store, store.transaction.bind(store));
    });

  test("commits a transaction, and resolves with what its function returned", async (store, transact) => {
    const result = await transact(async (_tx, inside) => {
      await inside.apply([write(row("a"), { used: 1, ts: 1 })]);
      return read(inside, row("a"));
    }, {});
    expect(result).toEqual({ used: 1, ts: 1 });
    expect(await read(store, row("a"))).toEqual({ used: 1, ts: 1 });
  });

  test("rolls a transaction back if its function throws, and rejects with the same error", async (store, transact) => {
    const before = { used: 1, ts: 1 };
    await store.apply([write(row("a"), before), write(row("c"), before)]);
    const failure = new Error("the application's own");
    const failing = transact(async (_tx, inside) => {
      await inside.apply([write(row("a"), { used: 2, ts: 2 }), write(row("b"), before)]);
      await inside.apply([write(row("c"), null)]);
      throw failure;
    }, {});
    expect(await reasonOf(failing)).toBe(failure);
    const states = await Promise.all(["a", "b", "c"].map((key) => read(store, row(key))));
    expect(states).toEqual([before, null, before]);
  });

  test("joins a transaction by `using`, and is rolled back with it", async (store, transact) => {
    const state = { used: 1, ts: 1 };
    const seen = await transact(async (tx, inside) => {
      await inside.apply([write(row("a"), state)]);
      const joined = store.using!(tx);
      await joined.apply([write(row("b"), state)]);
      return read(joined, row("a"));
    }, {});
    expect(seen).toEqual(state);
    expect(await read(store, row("b"))).toEqual(state);
    const failing = transact(async (tx) => {
      await store.using!(tx).apply([write(row("b"), null), write(row("c"), state)]);
      throw new Error("rolled back");
    }, {});
    await reasonOf(failing);
    expect(await read(store, row("b"))).toEqual(state);
    expect(await read(store, row("c"))).toBe(null);
  });

  test("keeps a call beside a transaction out of it", async (store, transact) => {
    const state = { used: 1, ts: 1 };
    let beside: Promise<unknown> | undefined;
    const failing = transact(async (_tx, inside) => {
      beside ??= store.apply([write(row("beside"), state)]);
      await inside.apply([write(row("inside"), state)]);
      throw new Error("rolled back");
    }, {});
    await reasonOf(failing);
    await beside;
    expect(await read(store, row("beside"))).toEqual(state);
    expect(await read(store, row("inside"))).toBe(null);
  });

  test("applies each of many transactions on one row once", async (store, transact) => {
    const results = await Promise.all(
      times(12, () => transact((_tx, inside) => inside.apply([take(row("hot"), 7)]), {})),
    );
    expect(granted(results)).toBe(7);
    expect((await read(store, row("hot")))?.used).toBe(7);
  });
}
