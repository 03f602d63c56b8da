/**
 * The tests that every store has to pass. A store is correct if decisions behave as if they ran one
 * after the other. The tests look for the ways in which stores fail to do that.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RateLimitState } from "../../core/calculate.js";
import { RateLimitStoreError } from "../../core/errors.js";
import type { Decision, RateLimitStore, RowId } from "../../server/store/store.js";

export interface StoreUnderTest {
  store: RateLimitStore;
  /** A second store on the same rows, as in another process. Absent if rows cannot be shared. */
  peer?: RateLimitStore;
  close(): Promise<void>;
}

const row = (key: string, shard = 0): RowId => ({ name: "contract", key, shard });

/** Takes 1 if the row holds at least 1. A missing row holds `full`. The result is whether it took. */
function take(id: RowId, full: number): Decision<boolean> {
  return {
    rows: [id],
    decide([state]) {
      const value = state?.value ?? full;
      if (value < 1) return { result: false };
      return { result: true, writes: [{ value: value - 1, ts: (state?.ts ?? 0) + 1 }] };
    },
  };
}

function write(id: RowId, state: RateLimitState | null): Decision<void> {
  return { rows: [id], decide: () => ({ result: undefined, writes: [state] }) };
}

async function read(store: RateLimitStore, id: RowId): Promise<RateLimitState | null | undefined> {
  const decision = {
    rows: [id],
    decide: ([state]: readonly (RateLimitState | null)[]) => ({ result: state }),
  };
  const [state] = await store.apply([decision]);
  return state;
}

const granted = (results: readonly boolean[][]) => results.flat().filter(Boolean).length;
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));

export function describeStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} as a store`, () => {
    let opened: StoreUnderTest;
    let store: RateLimitStore;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    it("reads null for a row that does not exist, and the last written state for one that does", async () => {
      expect(await read(store, row("a"))).toBeNull();
      await store.apply([write(row("a"), { value: 2, ts: 5 })]);
      expect(await read(store, row("a"))).toEqual({ value: 2, ts: 5 });
    });

    it("stores numbers exactly, to the last bit", async () => {
      const values = [0.1 + 0.2, -1 / 3, 1e-300, -(2 ** 52) - 1, 5e-324, 1.7976931348623157e308, 0];
      await store.apply(
        values.map((value, i) => write(row(`n${i}`), { value, ts: 1.1e12 + 1 / 3 })),
      );
      for (const [i, value] of values.entries()) {
        expect(await read(store, row(`n${i}`))).toEqual({ value, ts: 1.1e12 + 1 / 3 });
        // The store can compare the stored number too, so a guarded write of the row succeeds.
        await store.apply([write(row(`n${i}`), { value: 1, ts: 1 })]);
        expect(await read(store, row(`n${i}`))).toEqual({ value: 1, ts: 1 });
      }
    });

    it("keeps separate rows for keys that differ in case, accent, trailing space or Unicode form", async () => {
      const keys = [
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
      await store.apply(keys.map((key, i) => write(row(key), { value: i, ts: 0 })));
      for (const [i, key] of keys.entries()) {
        expect(await read(store, row(key))).toEqual({ value: i, ts: 0 });
      }
    });

    it("keeps separate rows for different names and shards", async () => {
      const ids = [row("k"), row("k", 1), { ...row("k"), name: "Contract" }];
      await store.apply(ids.map((id, i) => write(id, { value: i, ts: 0 })));
      for (const [i, id] of ids.entries()) expect((await read(store, id))?.value).toBe(i);
    });

    it("grants exactly 37 of 200 simultaneous decisions on a new row of 37 tokens", async () => {
      const results = await Promise.all(times(200, () => store.apply([take(row("hot"), 37)])));
      expect(granted(results)).toBe(37);
      expect((await read(store, row("hot")))?.value).toBe(0);
    });

    it("runs the decisions of one call in order, and each sees the writes of those before it", async () => {
      const results = await store.apply(times(5, () => take(row("list"), 3)));
      expect(results).toEqual([true, true, true, false, false]);
    });

    it("leaves a row unchanged when the decision returns no writes", async () => {
      await store.apply([write(row("a"), { value: 0, ts: 9 })]);
      expect(await store.apply([take(row("a"), 5)])).toEqual([false]);
      expect(await read(store, row("a"))).toEqual({ value: 0, ts: 9 });
      await store.apply([{ rows: [row("b")], decide: () => ({ result: 1 }) }]);
      expect(await read(store, row("b"))).toBeNull();
    });

    it("deletes a row, even one that never existed or was written in the same call", async () => {
      await store.apply([write(row("a"), { value: 1, ts: 1 })]);
      await store.apply([write(row("a"), null), write(row("b"), null)]);
      await store.apply([write(row("c"), { value: 1, ts: 1 }), write(row("c"), null)]);
      for (const key of ["a", "b", "c"]) expect(await read(store, row(key))).toBeNull();
      await store.apply([write(row("a"), { value: 1, ts: 1 })]);
      await store.apply([write(row("a"), null), write(row("a"), { value: 3, ts: 3 })]);
      expect(await read(store, row("a"))).toEqual({ value: 3, ts: 3 });
    });

    it("writes all rows of one decision or none of them", async () => {
      // Each decision moves 1 from one account to another, so the sum never changes.
      const accounts = times(4, (i) => row(`account ${i}`));
      await store.apply(accounts.map((id) => write(id, { value: 10, ts: 0 })));
      const move = (from: RowId, to: RowId): Decision<number> => ({
        rows: [from, to],
        decide: ([a, b]) => ({
          result: a!.value + b!.value,
          writes: [
            { value: a!.value - 1, ts: a!.ts + 1 },
            { value: b!.value + 1, ts: b!.ts + 1 },
          ],
        }),
      });
      const stores = [store, opened.peer ?? store];
      await Promise.all(
        times(60, (i) =>
          stores[i % 2]!.apply([move(accounts[i % 4]!, accounts[(i * 3 + 1) % 4]!)]),
        ),
      );
      const states = await Promise.all(accounts.map((id) => read(store, id)));
      const sum = states.reduce((total, state) => total + state!.value, 0);
      expect(sum).toBe(40);
      expect(states.reduce((total, state) => total + state!.ts, 0)).toBe(120);
    });

    it("upserts one row and deletes another in one decision", async () => {
      await store.apply([write(row("from"), { value: 7, ts: 1 })]);
      const rename: Decision<void> = {
        rows: [row("from"), row("to"), row("never")],
        decide: ([from]) => ({ result: undefined, writes: [null, from ?? undefined, null] }),
      };
      await store.apply([rename]);
      expect(await read(store, row("from"))).toBeNull();
      expect(await read(store, row("to"))).toEqual({ value: 7, ts: 1 });
      expect(await read(store, row("never"))).toBeNull();
    });

    it("rejects only the caller whose decision throws", async () => {
      const poison: Decision<boolean> = {
        rows: [row("a")],
        decide() {
          throw new Error("poison");
        },
      };
      const calls = times(20, (i) => store.apply([i === 7 ? poison : take(row("a"), 100)]));
      const settled = await Promise.allSettled(calls);
      expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(1);
      expect(settled[7]).toMatchObject({ reason: { message: "poison" } });
      expect((await read(store, row("a")))?.value).toBe(81);
    });

    it("accepts thousands of rows in one call", async () => {
      const results = await store.apply(times(2500, (i) => take(row(`many ${i}`), 1)));
      expect(results.every(Boolean)).toBe(true);
      const again = await store.apply(times(2500, (i) => take(row(`many ${i}`), 1)));
      expect(again.some(Boolean)).toBe(false);
    });

    it("changes nothing for a call that has timed out", async () => {
      await expect(store.apply([take(row("late"), 10)], { expired: true })).rejects.toThrow(
        RateLimitStoreError,
      );
      expect(await read(store, row("late"))).toBeNull();
    });

    it("never grants a token twice when two stores share the same rows", async ({ skip }) => {
      const { peer } = opened;
      if (peer === undefined) return skip("this store keeps its rows in one process");
      for (let round = 0; round < 20; round++) {
        const id = row(`round ${round}`);
        const results = await Promise.all(
          times(60, (i) => (i % 2 === 0 ? store : peer).apply([take(id, 17)])),
        );
        expect(granted(results)).toBe(17);
      }
    });

    it("loses no write when two stores delete and take at the same time", async ({ skip }) => {
      const { peer } = opened;
      if (peer === undefined) return skip("this store keeps its rows in one process");
      for (let round = 0; round < 20; round++) {
        const id = row(`reset ${round}`);
        await store.apply([write(id, { value: 5, ts: 0 })]);
        const taking = times(20, () => store.apply([take(id, 5)]));
        const [results] = await Promise.all([Promise.all(taking), peer.apply([write(id, null)])]);
        // The delete runs before, between or after the takes, so 5 to 10 of them pass.
        const passed = granted(results);
        const remaining = (await read(peer, id))?.value ?? 5;
        expect(passed).toBeGreaterThanOrEqual(5);
        expect(passed).toBeLessThanOrEqual(10);
        expect(remaining).toBeGreaterThanOrEqual(0);
      }
    });
  });
}
