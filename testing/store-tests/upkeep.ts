/** Tests of listing and pruning, which are optional. */
import type { Bucket } from "../../core/config.js";
import { CLOSED } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import type { RowId } from "../../server/store/store.js";
import type { StoreUnderTest } from "../store-under-test.js";
import { skipTest, type TestDefiner } from "../test-runner.js";
import { read, row, times, write } from "./decisions.js";

/** No shard has a larger index. */
const LAST_SHARD = 2 ** 31 - 1;
/** Names that differ in case, accent or space, or that come before all letters. */
const NAMES = ["contract", "Contract", "contract ", "cóntract", "\u0001", " ", "日本", "😀"];

export function testUpkeep({ it, expect }: TestDefiner, opened: () => StoreUnderTest): void {
  it("lists the rows of a name page by page, each row once", async (...context) => {
    const { store } = opened();
    if (store.list === undefined) return skipTest(context, "this store has no list");
    const ids = times(10, (i) => row(`key ${i >> 1}`, i % 2));
    const other = { ...row("other"), name: "another" };
    await store.apply([...ids, other].map((id) => write(id, { used: 1, ts: 1 })));
    const found: string[] = [];
    let after: RowId | undefined;
    // A list that goes in a circle would never end.
    for (let pages = 0; pages < 10; pages++) {
      const page = await store.list("contract", after, 3);
      expect(page.length <= 3).toBe(true);
      if (page.length === 0) break;
      found.push(...page.map(({ key, shard }) => `${key} ${shard}`));
      after = page.at(-1);
    }
    expect(found.toSorted()).toEqual(ids.map(({ key, shard }) => `${key} ${shard}`));
  });

  it("finds the rows that begin with a text by the least ts", async (...context) => {
    const { store } = opened();
    if (store.earliest === undefined) return skipTest(context, "this store has no earliest");
    const at: readonly (readonly [key: string, ts: number])[] = [
      ["a|1", 30],
      ["a|2", 10.5],
      ["a|%", 20],
      ["a|_", 40],
      ["b|1", 1],
      ["A|1", 2],
      ["a", 3],
      ["a}", 4],
    ];
    await store.apply(at.map(([key, ts]) => write(row(key), { used: -ts, ts })));
    const found = async (prefix: string, count: number) =>
      (await store.earliest!("contract", prefix, count)).map(({ row: { key }, state }) => [
        key,
        state.used,
        state.ts,
      ]);
    expect(await found("a|", 3)).toEqual([
      ["a|2", -10.5, 10.5],
      ["a|%", -20, 20],
      ["a|1", -30, 30],
    ]);
    expect(await found("a|%", 3)).toEqual([["a|%", -20, 20]]);
    expect(await found("", 2)).toEqual([
      ["b|1", -1, 1],
      ["A|1", -2, 2],
    ]);
    expect(await found("c", 2)).toEqual([]);
  });

  it("sums up counters of a range by what their keys begin with", async (...context) => {
    const { store } = opened();
    if (store.sums === undefined) return skipTest(context, "this store has no sums");
    const at: readonly (readonly [key: string, shard: number, used: number])[] = [
      ["a|10", 1, 1],
      ["a|20", 1, 2],
      ["a|20", 4, 4],
      ["a|30", 1, 8],
      ["A|20", 1, 7],
      ["a\\|1|20", 0, 5],
      ["7|20", 2, 50],
      ["|20", 0, 100],
      ["|20", 2, 60],
    ];
    await store.apply(
      at.map(([key, shard, used]) => write(row(key, shard), { used, ts: Number(key.slice(-2)) })),
    );
    await store.apply([write({ ...row("b|20"), name: "another" }, { used: 9, ts: 20 })]);
    const terms = { from: 10, to: 30, by: [0, 1], count: 2 };
    expect(await store.sums("contract", terms)).toEqual({
      top: [
        { start: "A|", counts: [0, 7, 0, 0, 0] },
        { start: "a\\|1|", counts: [5, 0, 0, 0, 0] },
      ],
      keys: [5, 10, 50, 0, 4],
      all: [100, 0, 60, 0, 0],
    });
    const none = [0, 0, 0, 0, 0];
    expect(await store.sums("nothing", terms)).toEqual({ top: [], keys: none, all: none });
  });

  it("lists from a position between the rows", async (...context) => {
    const { store } = opened();
    if (store.list === undefined) return skipTest(context, "this store has no list");
    const ids = ["a", "b", "c"].flatMap((key) => [row(key, 0), row(key, 3)]);
    await store.apply(ids.map((id) => write(id, { used: 1, ts: 1 })));
    const listed = async (key: string, shard: number) =>
      (await store.list!("contract", row(key, shard), 2)).map((id) => `${id.key} ${id.shard}`);
    expect(await listed("b", -1)).toEqual(["b 0", "b 3"]);
    expect(await listed("b", 1)).toEqual(["b 3", "c 0"]);
    expect(await listed("a", LAST_SHARD)).toEqual(["b 0", "b 3"]);
    expect(await listed("bb", -1)).toEqual(["c 0", "c 3"]);
    expect(await listed("c", LAST_SHARD)).toEqual([]);
  });

  it("names every limit that has rows, each once", async (...context) => {
    const { store } = opened();
    if (store.names === undefined) return skipTest(context, "this store has no names");
    const named = async () => {
      const names: string[] = [];
      for await (const name of store.names!()) {
        names.push(name);
        // Names that go in a circle would never end.
        if (names.length > 2 * NAMES.length) break;
      }
      return names.toSorted();
    };
    expect(await named()).toEqual([]);
    const ids = NAMES.flatMap((name) => times(3, (i) => ({ name, key: `${i}`, shard: i })));
    await store.apply(ids.map((id) => write(id, { used: 1, ts: 1 })));
    expect(await named()).toEqual(NAMES.toSorted());
    const gone = ids.filter(({ name }) => name === "Contract");
    await store.apply(gone.map((id) => write(id, null)));
    expect(await named()).toEqual(NAMES.filter((name) => name !== "Contract").toSorted());
  });

  it("prunes rows that are full, and no others", async (...context) => {
    const { store } = opened();
    if (store.prune === undefined) return skipTest(context, "this store has no prune");
    const config: Bucket = { kind: "token bucket", rate: 10, period: 1000 };
    const before = Date.UTC(2030, 0, 1);
    const full = { used: 0, ts: before + 5 };
    const states: Record<string, Row> = {
      full,
      refilled: { used: 10, ts: before - 1000 },
      "almost full": { used: 10, ts: before - 999 },
      // A config of a larger capacity has used these tokens.
      "refilled, of a larger config": { used: 25, ts: before - 2500 },
      "almost full, of a larger config": { used: 25, ts: before - 2499 },
      // A debt is used beyond the capacity.
      "repaid and refilled": { used: -5, ts: before - 1500 },
      repaid: { used: -5, ts: before - 1499 },
      "opened and refilled": { used: CLOSED, ts: before - 1000 },
      opened: { used: CLOSED, ts: before - 999 },
      closed: { used: CLOSED, ts: before + 1 },
    };
    const isPruned = (key: string) => /\bfull$|refilled/.test(key) && !key.startsWith("almost");
    const other = { ...row("full"), name: "another" };
    await store.apply([
      ...Object.entries(states).map(([key, state]) => write(row(key), state)),
      write(other, full),
    ]);
    let deleted = 0;
    const terms = { configs: new Map([["contract", [config]]]), before };
    for await (const count of store.prune(terms)) deleted += count;
    expect(deleted).toBe(5);
    for (const [key, state] of Object.entries(states)) {
      const left = await read(store, row(key));
      expect({ key, left }).toEqual({ key, left: isPruned(key) ? null : state });
    }
    expect(await read(store, other)).toEqual(full);
  });
}
