/** For hosts where each request owns its I/O: no call waits for the statement of another turn. */
import { describe, expect, it, vi } from "vitest";
import { createCommitPerTurn } from "../../../../server/store/group-commit/commit-per-turn.js";
import type { Decision } from "../../../../server/store/store.js";
import { createFakeDatabase, row } from "../sql/fake-database.js";

const adding = (key: string): Decision<number> => ({
  rows: [row(key)],
  decide([state]) {
    const used = (state?.used ?? 0) + 1;
    return { result: used, writes: [{ used, ts: 0 }] };
  },
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("group commit per turn", () => {
  it("sends the calls of one turn together", async () => {
    const { access, counts } = createFakeDatabase({});
    const store = createCommitPerTurn(access);
    const added = await Promise.all([1, 2, 3].map(() => store.apply([adding("a")])));
    expect(added).toEqual([[1], [2], [3]]);
    expect(counts.reads).toBe(1);
  });

  it("lets no call wait for a batch of another turn that is never answered", async () => {
    let reads = 0;
    const { access } = createFakeDatabase({
      beforeRead: () => (++reads === 1 ? new Promise(() => {}) : undefined),
    });
    const store = createCommitPerTurn(access);
    void store.apply([adding("a")]);
    await nextTurn();
    expect(await store.apply([adding("a")])).toEqual([1]);
  });

  it("lets no call wait for a check of the table that is never answered", async () => {
    const { access } = createFakeDatabase({});
    let checks = 0;
    access.prepare = () => (++checks === 1 ? new Promise(() => {}) : undefined);
    const store = createCommitPerTurn(access);
    void store.apply([adding("a")]);
    await nextTurn();
    expect(await store.apply([adding("a")])).toEqual([1]);
  });

  it("decides each call exactly once, however many turns there are", async () => {
    const { access, rows } = createFakeDatabase({ beforeWrite: nextTurn as never });
    const store = createCommitPerTurn(access);
    const turns = Array.from({ length: 50 }, async (_, i) => {
      for (let turn = 0; turn < i % 5; turn++) await nextTurn();
      return (await store.apply([adding("a")]))[0]!;
    });
    const results = await Promise.all(turns);
    expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect([...rows.values()]).toEqual([{ used: 50, ts: 0 }]);
  });

  it("reports the batches of all turns", async () => {
    const { access } = createFakeDatabase({});
    const store = createCommitPerTurn(access);
    const listener = vi.fn();
    const stop = store.onBatch!(listener);
    await store.apply([adding("a")]);
    await store.apply([adding("b")]);
    stop();
    await store.apply([adding("c")]);
    expect(listener).toHaveBeenCalledTimes(2);
  });
});
