/** Tests that written rows are read unchanged: numbers to the last bit, keys to the last character. */
import type { Decision } from "../../server/store/store.js";
import type { StoreUnderTest } from "../store-under-test.js";
import type { TestDefiner } from "../test-runner.js";
import { nameOf, read, reasonOf, row, take, times, write } from "./decisions.js";

const NUMBERS = [0.1 + 0.2, -1 / 3, 1e-300, -(2 ** 52) - 1, 5e-324, 1.7976931348623157e308, 0];
/** Keys that differ in case, accent, space or Unicode form, or that look like a number, or like SQL. */
const KEYS = [
  "user",
  "User",
  "usér",
  "use\u0301r",
  "user ",
  " user",
  "user\t",
  "1",
  "1.0",
  "",
  "日本",
  "😀",
  "'; --",
  "\\",
];

export function testRows({ it, expect }: TestDefiner, opened: () => StoreUnderTest): void {
  it("reads null for a row that does not exist, and the last written state for one that does", async () => {
    const { store } = opened();
    expect(await read(store, row("a"))).toBe(null);
    await store.apply([write(row("a"), { used: 2, ts: 5 })]);
    expect(await read(store, row("a"))).toEqual({ used: 2, ts: 5 });
  });

  it("stores numbers exactly, to the last bit", async () => {
    const { store } = opened();
    const ts = 1.1e12 + 1 / 3;
    await store.apply(NUMBERS.map((used, i) => write(row(`n${i}`), { used, ts })));
    for (const [i, used] of NUMBERS.entries()) {
      expect(await read(store, row(`n${i}`))).toEqual({ used, ts });
      // The store must also compare the stored number exactly, or a guarded write of the row fails.
      await store.apply([write(row(`n${i}`), { used: 1, ts: 1 })]);
      expect(await read(store, row(`n${i}`))).toEqual({ used: 1, ts: 1 });
    }
  });

  it("keeps separate rows for keys that differ in case, accent, trailing space or Unicode form", async () => {
    const { store } = opened();
    await store.apply(KEYS.map((key, i) => write(row(key), { used: i, ts: 0 })));
    for (const [i, key] of KEYS.entries()) {
      expect(await read(store, row(key))).toEqual({ used: i, ts: 0 });
    }
  });

  it("keeps separate rows for different names and shards", async () => {
    const { store } = opened();
    const ids = [row("k"), row("k", 1), { ...row("k"), name: "Contract" }];
    await store.apply(ids.map((id, i) => write(id, { used: i, ts: 0 })));
    for (const [i, id] of ids.entries()) expect((await read(store, id))?.used).toBe(i);
  });

  it("runs the decisions of one call in order, and each sees the writes of those before it", async () => {
    const results = await opened().store.apply(times(5, () => take(row("list"), 3)));
    expect(results).toEqual([true, true, true, false, false]);
  });

  it("leaves a row unchanged when the decision returns no writes", async () => {
    const { store } = opened();
    await store.apply([write(row("a"), { used: 5, ts: 9 })]);
    expect(await store.apply([take(row("a"), 5)])).toEqual([false]);
    expect(await read(store, row("a"))).toEqual({ used: 5, ts: 9 });
    await store.apply([{ rows: [row("b")], decide: () => ({ result: 1 }) }]);
    expect(await read(store, row("b"))).toBe(null);
  });

  it("deletes a row, even one that never existed or was written in the same call", async () => {
    const { store } = opened();
    await store.apply([write(row("a"), { used: 1, ts: 1 })]);
    await store.apply([write(row("a"), null), write(row("b"), null)]);
    await store.apply([write(row("c"), { used: 1, ts: 1 }), write(row("c"), null)]);
    for (const key of ["a", "b", "c"]) expect(await read(store, row(key))).toBe(null);
    await store.apply([write(row("a"), { used: 1, ts: 1 })]);
    await store.apply([write(row("a"), null), write(row("a"), { used: 3, ts: 3 })]);
    expect(await read(store, row("a"))).toEqual({ used: 3, ts: 3 });
  });

  it("upserts one row and deletes another in one decision", async () => {
    const { store } = opened();
    await store.apply([write(row("from"), { used: 7, ts: 1 })]);
    const rename: Decision<void> = {
      rows: [row("from"), row("to"), row("never")],
      decide: ([from]) => ({ result: undefined, writes: [null, from ?? undefined, null] }),
    };
    await store.apply([rename]);
    expect(await read(store, row("from"))).toBe(null);
    expect(await read(store, row("to"))).toEqual({ used: 7, ts: 1 });
    expect(await read(store, row("never"))).toBe(null);
  });

  it("rejects only the caller whose decision throws", async () => {
    const { store } = opened();
    const poison: Decision<boolean> = {
      rows: [row("a")],
      decide() {
        throw new Error("poison");
      },
    };
    const calls = times(20, (i) => store.apply([i === 7 ? poison : take(row("a"), 100)]));
    const settled = await Promise.allSettled(calls);
    const rejected = settled.flatMap((each, i) =>
      each.status === "rejected" ? [{ i, message: (each.reason as Error).message }] : [],
    );
    expect(rejected).toEqual([{ i: 7, message: "poison" }]);
    expect((await read(store, row("a")))?.used).toBe(19);
  });

  it("accepts thousands of rows in one call", async () => {
    const { store } = opened();
    const results = await store.apply(times(2500, (i) => take(row(`many ${i}`), 1)));
    expect(results.every(Boolean)).toBe(true);
    const again = await store.apply(times(2500, (i) => take(row(`many ${i}`), 1)));
    expect(again.some(Boolean)).toBe(false);
  });

  it("changes nothing for a call that has timed out", async () => {
    const { store } = opened();
    const late = reasonOf(store.apply([take(row("late"), 10)], { expired: true }));
    expect(nameOf(await late)).toBe("RateLimitStoreError");
    expect(await read(store, row("late"))).toBe(null);
  });
}
