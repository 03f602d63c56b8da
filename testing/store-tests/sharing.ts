/** Tests of concurrent decisions on the same rows, in one store and in two stores. */
import type { Decision, RowId } from "../../server/store/store.js";
import type { StoreUnderTest } from "../store-under-test.js";
import { skipTest, type TestDefiner } from "../test-runner.js";
import { granted, read, row, take, times, write } from "./decisions.js";

export const ALONE = "this store has no peer: `open` returned none";

const UNLOCKED =
  "this store has no transactions, and may be unable to guard a row that does not exist";

/** Claims a row if the other row is not claimed. Only one of two such decisions on two rows may claim. */
const claim = (own: RowId, other: RowId): Decision<boolean> => ({
  rows: [own, other],
  decide([mine, theirs]) {
    if (theirs?.used === 1) return { result: false };
    return {
      result: true,
      writes: [{ used: 1, ts: (mine?.ts ?? 0) + 1 }, theirs ?? null],
    };
  },
});

export function testSharing({ it, expect }: TestDefiner, opened: () => StoreUnderTest): void {
  it("grants exactly 37 of 200 simultaneous decisions on a new row of 37 tokens", async () => {
    const { store } = opened();
    const results = await Promise.all(times(200, () => store.apply([take(row("hot"), 37)])));
    expect(granted(results)).toBe(37);
    expect((await read(store, row("hot")))?.used).toBe(37);
  });

  it("writes all rows of one decision or none of them", async () => {
    const { store, peer } = opened();
    // Each decision moves 1 from one account to another, so the sum never changes.
    const accounts = times(4, (i) => row(`account ${i}`));
    await store.apply(accounts.map((id) => write(id, { used: 10, ts: 0 })));
    const move = (from: RowId, to: RowId): Decision<void> => ({
      rows: [from, to],
      decide: ([a, b]) => ({
        result: undefined,
        writes: [
          { used: a!.used - 1, ts: a!.ts + 1 },
          { used: b!.used + 1, ts: b!.ts + 1 },
        ],
      }),
    });
    const stores = [store, peer ?? store];
    await Promise.all(
      times(60, (i) => stores[i % 2]!.apply([move(accounts[i % 4]!, accounts[(i * 3 + 1) % 4]!)])),
    );
    const states = await Promise.all(accounts.map((id) => read(store, id)));
    expect(states.reduce((total, state) => total + state!.used, 0)).toBe(40);
    expect(states.reduce((total, state) => total + state!.ts, 0)).toBe(120);
  });

  it("guards rows that a decision gives back unchanged", async (...context) => {
    const { store, peer = store, unguarded } = opened();
    if (unguarded !== undefined) return skipTest(context, unguarded);
    for (let round = 0; round < 20; round++) {
      const [a, b] = [row(`claim ${round}`), row(`counterclaim ${round}`)];
      await store.apply([a, b].map((id) => write(id, { used: 0, ts: 0 })));
      const results = await Promise.all([store.apply([claim(a, b)]), peer.apply([claim(b, a)])]);
      expect({ round, granted: granted(results) }).toEqual({ round, granted: 1 });
      const states = [await read(store, a), await read(store, b)];
      expect(states.filter((state) => state?.used === 0)).toEqual([{ used: 0, ts: 0 }]);
    }
  });

  it("guards rows that do not exist if a decision gives them back, and creates none", async (...context) => {
    const { store, peer = store } = opened();
    if (store.transaction === undefined) return skipTest(context, UNLOCKED);
    for (let round = 0; round < 20; round++) {
      const [a, b] = [row(`new claim ${round}`), row(`new counterclaim ${round}`)];
      // In every other round, one of the rows exists.
      if (round % 2 === 1) await store.apply([write(a, { used: 0, ts: 0 })]);
      const results = await Promise.all([store.apply([claim(a, b)]), peer.apply([claim(b, a)])]);
      expect({ round, granted: granted(results) }).toEqual({ round, granted: 1 });
      const states = [await read(store, a), await read(store, b)];
      const isLeft = round % 2 === 1 && states[1]?.used === 1;
      expect(states.filter((state) => state?.used !== 1)).toEqual([
        isLeft ? { used: 0, ts: 0 } : null,
      ]);
    }
  });

  it("never grants a token twice when two stores share the same rows", async (...context) => {
    const { store, peer } = opened();
    if (peer === undefined) return skipTest(context, ALONE);
    for (let round = 0; round < 20; round++) {
      const id = row(`round ${round}`);
      const results = await Promise.all(
        times(60, (i) => (i % 2 === 0 ? store : peer).apply([take(id, 17)])),
      );
      expect(granted(results)).toBe(17);
    }
  });

  it("loses no write when two stores delete and take at the same time", async (...context) => {
    const { store, peer } = opened();
    if (peer === undefined) return skipTest(context, ALONE);
    for (let round = 0; round < 20; round++) {
      const id = row(`reset ${round}`);
      await store.apply([write(id, { used: 0, ts: 0 })]);
      const taking = times(20, () => store.apply([take(id, 5)]));
      const [results] = await Promise.all([Promise.all(taking), peer.apply([write(id, null)])]);
      // The delete runs before, between or after the takes, so 5 to 10 takes pass.
      const passed = granted(results);
      const remaining = 5 - ((await read(peer, id))?.used ?? 0);
      expect({ passed, isPossible: passed >= 5 && passed <= 10 }).toEqual({
        passed,
        isPossible: true,
      });
      expect({ remaining, isPossible: remaining >= 0 }).toEqual({ remaining, isPossible: true });
    }
  });
}
