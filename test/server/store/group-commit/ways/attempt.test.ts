import { describe, expect, it } from "vitest";
import { GeneralBatch, type Way } from "../../../../../server/store/group-commit/batch.js";
import { attempt } from "../../../../../server/store/group-commit/ways/attempt.js";
import {
  type RowStatements,
  UnsentError,
  type WriteOutcomes,
} from "../../../../../server/store/row-access.js";
import type { WriteGroup } from "../../../../../server/store/plan-writes.js";
import { type RowId, rowKey, type Submission } from "../../../../../server/store/store.js";
import { row } from "../../sql/fake-database.js";

const [a, b, c] = ["a", "b", "c"].map(row) as [RowId, RowId, RowId];

/** A call that takes 1 from each of its rows. */
const take = (...rows: RowId[]) => ({
  decision: {
    rows,
    decide: (states: readonly ({ used: number } | null)[]) => ({
      result: rows.map(({ key }) => key),
      writes: states.map((state) => ({ used: (state?.used ?? 0) + 1, ts: 1 })),
    }),
  },
  expired: false,
  resolve() {},
  reject() {},
});

type Call = Submission<unknown>;

/** A call that only reads its rows. */
const look = (...rows: RowId[]): Call => ({
  ...take(),
  decision: { rows, decide: () => ({ result: "looked" }) },
});

/** Tries a batch of these calls on a database that has the rows `stored`. */
async function tryBatch(
  calls: Call[],
  write: (
    groups: readonly WriteGroup[],
    isWanted: (group: WriteGroup) => boolean,
  ) => WriteOutcomes = () => new Map(),
  { isLocking = false, serializable = false, stored = [] as RowId[] } = {},
) {
  const batch = new GeneralBatch({ name: "decide" } as Way);
  for (const call of calls) batch.add(call);
  const read: string[] = [];
  const statements: RowStatements = {
    async read(ids) {
      read.push(...ids.map(({ key }) => key));
      return new Map(stored.map((id) => [rowKey(id), { used: 0, ts: 0 }]));
    },
    write: async (groups, isWanted) => write(groups, isWanted!),
  };
  const wrap = (error: unknown) => new Error(`wrapped ${String(error)}`);
  return { read, made: await attempt(batch, statements, { wrap, serializable }, isLocking) };
}

describe("a try of a batch", () => {
  it("reads rows in one order in every process where it locks them", async () => {
    expect((await tryBatch([take(c), take(a), take(b)])).read).toEqual(["c", "a", "b"]);
    const locking = { isLocking: true };
    const { read } = await tryBatch([take(c), take(a), take(b)], undefined, locking);
    expect(read).toEqual(["a", "b", "c"]);
  });

  it("sends no group of writes of which one call has timed out while it waited", async () => {
    const [late, other, apart] = [take(a), take(a), take(b)];
    const wanted: boolean[] = [];
    await tryBatch([late, other, apart], (groups, isWanted) => {
      late.expired = true;
      wanted.push(...groups.map((group) => isWanted(group)));
      return new Map();
    });
    expect(wanted).toEqual([false, true]);
  });

  it.each<[string, { isLocking?: boolean; serializable?: boolean }, number[]]>([
    ["locks rows", { isLocking: true }, [1]],
    ["is a Serializable transaction", { isLocking: true, serializable: true }, []],
    ["locks no row", {}, []],
  ])(
    "that %s decides again what rests on several rows of which one is missing",
    async (_, options, again) => {
      const calls = [look(a, b), look(a, c), look(c)];
      const { made } = await tryBatch(calls, undefined, { ...options, stored: [a, b] });
      expect([...made.undecided]).toEqual(again);
    },
  );

  it.each<[string, "written" | "exists" | { error: unknown } | undefined, object]>([
    ["is written", "written", { undecided: [], written: [rowKey(a)] }],
    [
      "met a row that another call has inserted",
      "exists",
      { undecided: [0], conflicts: 1, lostNewRows: true, written: [rowKey(a)] },
    ],
    ["met another change", undefined, { undecided: [0], conflicts: 1, lostNewRows: false }],
    ["was not sent", { error: new UnsentError() }, { undecided: [0], unsent: true }],
    ["failed", { error: "gone" }, { undecided: [], failed: true }],
  ])("says what became of a group that %s", async (_, outcome, said) => {
    const { made } = await tryBatch([take(a)], (groups) => {
      return new Map(outcome === undefined ? [] : [[groups[0]!, outcome]]);
    });
    const nothing = { conflicts: 0, lostNewRows: true, unsent: false, failed: false, written: [] };
    const { settled, ...rest } = made;
    expect({ ...rest, undecided: [...made.undecided] }).toEqual({ ...nothing, ...said });
    if (made.failed) expect(settled[0]).toEqual({ ok: false, error: new Error("wrapped gone") });
    else expect(settled[0]).toEqual({ ok: true, result: ["a"] });
  });
});
