/** The plain path of group commit: the database takes the tokens inside one statement. */
import { describe, expect, it } from "vitest";
import { takeTokens } from "../../../../../core/decide.js";
import type { Row } from "../../../../../core/rows/row.js";
import { createGroupCommit } from "../../../../../server/store/group-commit/group-commit.js";
import {
  type Decision,
  type PlainTake,
  type RowId,
  rowKey,
} from "../../../../../server/store/store.js";
import { createFakeDatabase, row } from "../../sql/fake-database.js";

const fixedClock = () => 1e12;

/** A decision that takes `count` from a bucket of 10 that does not refill. */
const plainTake = (
  id: RowId,
  count = 1,
  floor = 0,
  clock = fixedClock,
  least = 0,
): Decision<string> => {
  const config = { kind: "token bucket", rate: 10, period: 1e9 } as const;
  const plain: PlainTake<string> = {
    config,
    count,
    floor,
    least,
    clock,
    granted: (next, later) => `granted, ${10 - next.used + later} remaining`,
  };
  return {
    rows: [id],
    plain,
    decide([state]) {
      const next = takeTokens(state ?? null, config, clock(), count, floor, least);
      return next
        ? { result: `decided, ${10 - next.used} remaining`, writes: [next] }
        : { result: "denied" };
    },
  };
};

/** A store on a fake database. `statements` records the key and total of each line taken. */
function createPlainStore(mixesTerms = true) {
  const statements: [string, number][][] = [];
  const { access, rows, counts } = createFakeDatabase({
    hasLocks: true,
    mixesTerms,
    async take(lines, { now }) {
      statements.push(lines.map(({ row: { key }, total }) => [key, total]));
      const taken = new Map<string, Row>();
      for (const { row: id, total, terms } of lines) {
        const { config, floor, least } = terms;
        const next = takeTokens(rows.get(rowKey(id)) ?? null, config, now, total, floor, least);
        if (next === undefined) continue;
        rows.set(rowKey(id), next);
        taken.set(rowKey(id), next);
      }
      return taken;
    },
  });
  return { store: createGroupCommit(access), rows, counts, statements };
}

describe("group commit on the plain path", () => {
  it("takes the tokens of several calls on one row together, and reports the value after each", async () => {
    const { store, statements, counts } = createPlainStore();
    const results = await store.apply([1, 2, 3].map((count) => plainTake(row("a"), count)));
    expect(results).toEqual([
      "granted, 9 remaining",
      "granted, 7 remaining",
      "granted, 4 remaining",
    ]);
    expect(statements).toEqual([[["a", 6]]]);
    expect(counts).toEqual({ reads: 0, writes: 0, locked: 0 });
  });

  it("takes the tokens of each of several rows together, in whatever order the calls came", async () => {
    const { store, statements } = createPlainStore();
    const keys = ["b", "a", "a", "c", "a", "c", "b"];
    expect(await store.apply(keys.map((key) => plainTake(row(key))))).toEqual([
      "granted, 9 remaining",
      "granted, 9 remaining",
      "granted, 8 remaining",
      "granted, 9 remaining",
      "granted, 7 remaining",
      "granted, 8 remaining",
      "granted, 8 remaining",
    ]);
    // Every process takes from its rows in the same order.
    expect(statements).toEqual([
      [
        ["a", 3],
        ["b", 2],
        ["c", 2],
      ],
    ]);
  });

  it("takes at most a full bucket in one statement, and decides the other calls one by one", async () => {
    const { store, statements } = createPlainStore();
    const calls = Array.from({ length: 14 }, () => store.apply([plainTake(row("a"))]));
    const results = (await Promise.all(calls)).flat();
    expect(results.filter((result) => result.startsWith("granted"))).toHaveLength(10);
    expect(results.filter((result) => result === "denied")).toHaveLength(4);
    expect(statements[0]).toEqual([["a", 10]]);
  });

  it("grants some of the calls on one row when there are not enough tokens for all", async () => {
    const { store, rows, statements } = createPlainStore();
    rows.set(rowKey(row("a")), { used: 7, ts: 1e12 });
    const results = await store.apply([2, 2, 1].map((count) => plainTake(row("a"), count)));
    expect(results).toEqual(["decided, 1 remaining", "denied", "decided, 0 remaining"]);
    expect(rows.get(rowKey(row("a")))?.used).toBe(10);
    expect(await store.apply([plainTake(row("a"))])).toEqual(["denied"]);
    // The row is known to be empty now. A read is enough to deny, until tokens are back.
    const before = statements.length;
    expect(await store.apply([plainTake(row("a"))])).toEqual(["denied"]);
    rows.set(rowKey(row("a")), { used: 5, ts: 1e12 });
    expect(await store.apply([plainTake(row("a"))])).toEqual(["decided, 4 remaining"]);
    expect(statements).toHaveLength(before);
    expect(await store.apply([plainTake(row("a"))])).toEqual(["granted, 3 remaining"]);
  });

  const differing = () => [
    plainTake(row("a")),
    plainTake(row("b"), 1, -5),
    plainTake(row("c")),
    plainTake(row("d"), 1, 0, () => 1e12),
    // The same row with another floor.
    plainTake(row("a"), 1, -5),
  ];

  it("shares one statement between calls on rows with other terms, and with the same clock", async () => {
    const { store, statements } = createPlainStore();
    expect(await store.apply(differing())).toEqual([
      "granted, 9 remaining",
      "granted, 9 remaining",
      "granted, 9 remaining",
      "granted, 9 remaining",
      "granted, 8 remaining",
    ]);
    expect(statements).toEqual([
      [
        ["a", 1],
        ["b", 1],
        ["c", 1],
      ],
      [["d", 1]],
      [["a", 1]],
    ]);
  });

  it("shares it only between calls with the same terms where the database cannot mix them", async () => {
    const { store, statements } = createPlainStore(false);
    await store.apply(differing().slice(0, 4));
    expect(statements).toEqual([
      [
        ["a", 1],
        ["c", 1],
      ],
      [["b", 1]],
      [["d", 1]],
    ]);
  });

  it("takes together only what counts as used alike, and no more than a full row has then", async () => {
    const { store, statements } = createPlainStore();
    const block = () => plainTake(row("a"), 2, 0, fixedClock, 5);
    expect(await store.apply([plainTake(row("a")), block(), block(), block()])).toEqual([
      "granted, 9 remaining",
      // 5 count as used before them.
      "granted, 3 remaining",
      "granted, 1 remaining",
      "denied",
    ]);
    expect(statements.slice(0, 2)).toEqual([[["a", 1]], [["a", 4]]]);
  });

  it("skips the plain path when the clock returns NaN, and rejects when the clock throws", async () => {
    const { store, rows, statements } = createPlainStore();
    rows.set(rowKey(row("a")), { used: 0, ts: 1e12 });
    expect(await store.apply([plainTake(row("a"), 1, 0, () => NaN)])).toEqual(["denied"]);
    const throwingClock = () => {
      throw new Error("no clock");
    };
    await expect(store.apply([plainTake(row("b"), 1, 0, throwingClock)])).rejects.toThrow(
      "no clock",
    );
    expect(statements).toEqual([]);
  });

  it("searches no longer for a batch when more calls wait", async () => {
    const searchedPerCall = async (calls: number) => {
      const { store } = createPlainStore();
      let searched = 0;
      const decisions = Array.from({ length: calls }, (_, i) => {
        const id = row(`${i}`);
        return Object.defineProperty(plainTake(id), "rows", {
          get() {
            searched++;
            return [id];
          },
        });
      });
      await store.apply(decisions);
      return searched / calls;
    };
    expect(await searchedPerCall(20_000)).toBeLessThan(1.5 * (await searchedPerCall(5000)));
  });

  it("answers a new call before the thousands of calls on other rows that came first", async () => {
    const { store, statements } = createPlainStore();
    const many = store.apply(Array.from({ length: 10_000 }, (_, i) => plainTake(row(`${i}`))));
    await store.apply([plainTake(row("new"))]);
    const answered = statements.length;
    await many;
    expect(answered).toBeLessThan(statements.length / 4);
    expect(new Set(statements.flat().map(([key]) => key)).size).toBe(10_001);
    expect(statements.flat()).toHaveLength(10_001);
    // The oldest calls go out in every batch, too.
    expect(statements[0]![0]).toEqual(["0", 1]);
  });

  it("decides calls of all kinds on one row together, and not in a batch per change of kind", async () => {
    const { store, rows, statements, counts } = createPlainStore();
    const giveBack: Decision<string> = {
      rows: [row("a")],
      decide: ([state]) => ({
        result: "given back",
        writes: [{ used: state!.used - 1, ts: state!.ts }],
      }),
    };
    await store.apply([plainTake(row("a"))]);
    statements.length = 0;
    const calls = Array.from({ length: 12 }, (_, i) =>
      store.apply([i % 2 === 0 ? plainTake(row("a")) : giveBack]),
    );
    await Promise.all(calls);
    expect(rows.get(rowKey(row("a")))!.used).toBe(1);
    // One plain take of the first call, and one read and one write for the others.
    expect(statements).toEqual([[["a", 1]]]);
    expect(counts).toEqual({ reads: 1, writes: 1, locked: 0 });
  });

  it("takes from new rows that another process has inserted first, together and without locks", async () => {
    const ids = Array.from({ length: 20 }, (_, i) => row(`new ${i}`));
    let inserts = 1;
    let takes = 0;
    const { access, rows, counts } = createFakeDatabase({
      hasLocks: true,
      beforeWrite() {
        if (inserts-- > 0) for (const id of ids) rows.set(rowKey(id), { used: 5, ts: 1e12 });
      },
      // Finds only rows that exist, as on MariaDB.
      async take(lines, { now }) {
        takes++;
        const taken = new Map<string, Row>();
        for (const { row: id, total, terms } of lines) {
          const state = rows.get(rowKey(id));
          const next = state && takeTokens(state, terms.config, now, total, terms.floor);
          if (next) taken.set(rowKey(id), next);
        }
        return taken;
      },
    });
    const store = createGroupCommit(access);
    const answers = await store.apply(ids.map((id) => plainTake(id)));
    expect(answers).toEqual(ids.map(() => "granted, 4 remaining"));
    expect([takes, counts.reads, counts.locked]).toEqual([2, 1, 0]);
  });
});
