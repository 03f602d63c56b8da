/** Tests of the table of overrides, which is optional. */
import { MAX_RETRY_AFTER } from "../../core/config.js";
import type { OverrideRow, OverrideTable } from "../../server/store/override-table.js";
import type { StoreUnderTest } from "../store-under-test.js";
import { skipTest, type TestDefiner } from "../test-runner.js";
import { ALONE } from "./sharing.js";

/** The longest `rule`. */
const MAX_RULE = 1000;
const NONE = "this store has no overrides";

function row(key: string, more: Partial<OverrideRow> = {}): OverrideRow {
  return { name: "contract", key, rule: '{"times":2}', until: MAX_RETRY_AFTER, setAt: 1, ...more };
}

/** Keys that some databases take for the same key, and characters that some drivers cannot send. */
const KEYS = ["", "user", "User", "user ", "üser", "日本", "😀", 'a"b\\c', "a'b`c", "%_?$1"];

export function testOverrides({ it, expect }: TestDefiner, opened: () => StoreUnderTest): void {
  it("keeps one override per name and key, and replaces it as a whole", async (...context) => {
    const table = await emptied(opened());
    if (table === undefined) return skipTest(context, NONE);
    expect(await table.read()).toEqual([]);
    const rows = KEYS.map((key, i) => row(key, { until: 1e12 + i + 0.5, setAt: i / 3 }));
    const other = row("user", { name: "Contract", rule: '{"blocked":true}' });
    await Promise.all([...rows, other].map((each) => table.write(each)));
    expect(sorted(await table.read())).toEqual(sorted([...rows, other]));
    const replaced = row("user", { rule: `"${"x".repeat(MAX_RULE - 2)}"`, until: 5, setAt: 7 });
    await table.write(replaced);
    const expected = [...rows.filter(({ key }) => key !== "user"), other, replaced];
    expect(sorted(await table.read())).toEqual(sorted(expected));
  });

  it("removes exactly the override that is named, and says whether there was one", async (...context) => {
    const table = await emptied(opened());
    if (table === undefined) return skipTest(context, NONE);
    for (const key of KEYS) await table.write(row(key));
    expect(await table.remove("contract", "USER")).toBe(false);
    expect(await table.remove("another", "user")).toBe(false);
    for (const [i, key] of KEYS.entries()) {
      expect(await table.remove("contract", key)).toBe(true);
      expect(await table.remove("contract", key)).toBe(false);
      expect((await table.read()).length).toBe(KEYS.length - i - 1);
    }
  });

  it("removes the overrides that have ended, and no other", async (...context) => {
    const table = await emptied(opened());
    if (table === undefined) return skipTest(context, NONE);
    await table.write(row("past", { until: 999 }));
    await table.write(row("now", { until: 1000 }));
    await table.write(row("soon", { until: 1000.5 }));
    await table.write(row("never"));
    expect(await table.removeEnded(1000)).toBe(2);
    expect(await table.removeEnded(1000)).toBe(0);
    expect((await table.read()).map(({ key }) => key).toSorted()).toEqual(["never", "soon"]);
  });

  it("finds the overrides of one key, of a page, and those that have changed", async (...context) => {
    const table = await emptied(opened());
    if (table === undefined) return skipTest(context, NONE);
    const rows = KEYS.map((key, i) => row(key, { setAt: 100 + i }));
    const other = row("user", { name: "another", setAt: 100 });
    for (const each of [...rows, other]) await table.write(each);
    if (table.readOf !== undefined) {
      const of = async (key: string, ...names: string[]) =>
        sorted(await table.readOf!(["contract", ...names], key));
      expect(await of("user")).toEqual(sorted(rows.slice(1, 2)));
      expect(await of("user", "another", "none")).toEqual(sorted([rows[1]!, other]));
      expect(await of("")).toEqual(sorted(rows.slice(0, 1)));
      expect(await of("nobody", "another")).toEqual([]);
    }
    if (table.readPage !== undefined) {
      const found: OverrideRow[] = [];
      for (let page = [other]; page.length > 0;) {
        page = await table.readPage(found.at(-1), 3);
        expect(page.length <= 3).toBe(true);
        found.push(...page);
      }
      expect(sorted(found)).toEqual(sorted([...rows, other]));
    }
    if (table.readChanges !== undefined) {
      const { rows: changed, count } = await table.readChanges(105);
      expect(sorted(changed)).toEqual(sorted(rows.slice(5)));
      expect(count).toBe(KEYS.length + 1);
      expect(await table.readChanges(1000)).toEqual({ rows: [], count: KEYS.length + 1 });
    }
  });

  it("shows at once what another store has written", async (...context) => {
    const { store, peer } = opened();
    await emptied(opened());
    if (store.overrides === undefined) return skipTest(context, NONE);
    if (peer?.overrides === undefined) return skipTest(context, ALONE);
    expect(await peer.overrides.read()).toEqual([]);
    await store.overrides.write(row("user"));
    expect(await peer.overrides.read()).toEqual([row("user")]);
    await peer.overrides.remove("contract", "user");
    expect(await store.overrides.read()).toEqual([]);
  });

  it("changes overrides in a transaction, and takes that back with it", async (...context) => {
    const { store } = opened();
    const table = await emptied(opened());
    if (store.transaction === undefined || table?.writeWithin === undefined) {
      return skipTest(context, "this store changes no overrides in transactions");
    }
    await table.write(row("old"));
    const failure = new Error("rolled back");
    const change = (fails: boolean) =>
      store.transaction!(async (tx) => {
        expect(await table.writeWithin!(tx, row("user"))).toBe(true);
        expect(await table.writeWithin!(tx, { name: "contract", key: "old" })).toBe(true);
        expect(await table.writeWithin!(tx, { name: "contract", key: "old" })).toBe(false);
        expect(await table.readWithin!(tx)).toEqual([row("user")]);
        if (fails) throw failure;
      }, {});
    expect(await change(true).catch((error: unknown) => error)).toBe(failure);
    expect(await table.read()).toEqual([row("old")]);
    await change(false);
    expect(await table.read()).toEqual([row("user")]);
  });

  it("keeps overrides apart from rows", async (...context) => {
    const { store } = opened();
    const table = await emptied(opened());
    if (table === undefined || store.names === undefined) return skipTest(context, NONE);
    await table.write(row("user"));
    const names: string[] = [];
    for await (const name of store.names()) names.push(name);
    expect(names).toEqual([]);
    expect(await store.list!("contract", undefined, 10)).toEqual([]);
  });
}

/** The table of overrides, emptied: `open` may empty only the table of limits. */
async function emptied({ store }: StoreUnderTest): Promise<OverrideTable | undefined> {
  const { overrides: table } = store;
  for (const { name, key } of (await table?.read()) ?? []) await table!.remove(name, key);
  return table;
}

function sorted(rows: readonly OverrideRow[]): string[] {
  return rows
    .map(({ name, key, rule, until, setAt }) => JSON.stringify([name, key, rule, until, setAt]))
    .toSorted();
}
