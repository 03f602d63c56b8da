import { describe, expect, it } from "vitest";
import { SpentRows } from "../../../../../server/store/group-commit/spent-rows.js";
import { Ways } from "../../../../../server/store/group-commit/ways/ways.js";
import type { WayName } from "../../../../../server/store/group-commit/batch.js";
import { UnsentError, type WriteOutcomes } from "../../../../../server/store/row-access.js";
import { type RowId, rowKey, type Submission } from "../../../../../server/store/store.js";
import { createFakeDatabase, row, type FakeDatabaseOptions } from "../../sql/fake-database.js";

interface Call extends Submission<unknown> {
  expired: boolean;
  answer: unknown;
}

/** Takes 1 from each row. The answer is what was used of each before. */
function take(...rows: RowId[]): Call {
  const call: Call = {
    decision: {
      rows,
      decide(states) {
        const before = states.map((state) => state?.used ?? 0);
        return { result: before, writes: before.map((used) => ({ used: used + 1, ts: 1 })) };
      },
    },
    expired: false,
    answer: undefined,
    resolve: (result) => void (call.answer = result),
    reject: (error) => void (call.answer = error),
  };
  return call;
}

/** Reads the rows, and writes nothing. */
function look(...rows: RowId[]): Call {
  const decide = () => ({ result: "looked" });
  return Object.assign(take(...rows), { decision: { rows, decide } });
}

function open(options: FakeDatabaseOptions = {}) {
  const database = createFakeDatabase({ hasLocks: true, ...options });
  const spent = new SpentRows();
  const ways = new Ways(database.access, spent);
  /** Carries out a batch of these calls. */
  async function run(name: Exclude<WayName, "take">, ...calls: Call[]) {
    const way = ways[name];
    const batch = way.begin(calls[0]!);
    for (const call of calls.slice(1)) batch.add(call);
    const outcome = await way.carryOut(batch, false);
    outcome.answer();
    return outcome;
  }
  return { ...database, ways, spent, run };
}

const [a, b] = ["a", "b"].map(row) as [RowId, RowId];

it("decides the calls of a batch one after the other, and writes once", async () => {
  const { run, counts, rows } = open();
  const calls = [take(a), take(a), take(a, b)];
  expect(await run("decide", ...calls)).toMatchObject({ again: [], conflicts: 0, failed: false });
  expect(calls.map(({ answer }) => answer)).toEqual([[0], [1], [2, 0]]);
  expect([counts.writes, rows.get(rowKey(a))!.used]).toEqual([1, 3]);
});

describe("after a guarded write has lost", () => {
  it("locks the rows of its calls, if the database can", async () => {
    const { run, takeElsewhere, rows } = open({ beforeWrite: () => takeElsewhere(a) });
    rows.set(rowKey(a), { used: 0, ts: 0 });
    const [lost, kept] = [take(a), take(b)];
    const outcome = await run("decide", lost, kept);
    expect(outcome).toMatchObject({ again: [lost], nextWay: "lock", conflicts: 1 });
    expect([lost.answer, kept.answer]).toEqual([undefined, [0]]);
  });

  it("decides them again where it cannot", async () => {
    const { run, takeElsewhere, rows } = open({
      hasLocks: false,
      beforeWrite: () => takeElsewhere(a),
    });
    rows.set(rowKey(a), { used: 0, ts: 0 });
    expect(await run("decide", take(a))).toMatchObject({ nextWay: "decide", conflicts: 1 });
  });

  it("begins anew if only new rows were lost, which exist now", async () => {
    const { run, takeElsewhere } = open({ beforeWrite: () => takeElsewhere(a) });
    expect(await run("decide", take(a))).toMatchObject({ nextWay: "take", conflicts: 1 });
  });
});

it("decides a call again that has locked nothing, because one of its rows does not exist", async () => {
  const { run, rows } = open();
  rows.set(rowKey(a), { used: 0, ts: 0 });
  const call = look(a, b);
  expect(await run("lock", call)).toMatchObject({ again: [call], nextWay: "decide" });
});

it("tells of an error of the database to all calls, and of a conflict to none", async () => {
  const { run, access } = open({ beforeRead: () => Promise.reject(new Error("gone")) });
  const call = take(a);
  expect(await run("decide", call)).toMatchObject({ again: [], failed: true });
  expect(String(call.answer)).toBe("Error: gone");
  access.isConflict = () => true;
  const other = take(a);
  expect(await run("read", other)).toMatchObject({
    again: [other],
    nextWay: "read",
    failed: false,
  });
  expect(other.answer).toBeUndefined();
});

it("tries a batch again that was not sent, on the same way", async () => {
  const { run } = open({ beforeRead: () => Promise.reject(new UnsentError()) });
  const call = take(a);
  expect(await run("lock", call)).toMatchObject({
    again: [call],
    nextWay: "lock",
    conflicts: 0,
    failed: false,
  });
});

it("tries calls again that were not sent, on the same way unless others beside them have lost", async () => {
  const { run, access } = open();
  const unsent = { error: new UnsentError() };
  access.write = async ([first]) => new Map([[first!, unsent]]);
  const [call, other] = [take(a), take(b)];
  expect(await run("decide", call)).toMatchObject({
    again: [call],
    nextWay: "decide",
    conflicts: 0,
  });
  expect(await run("decide", call, other)).toMatchObject({
    again: [call, other],
    nextWay: "lock",
    conflicts: 1,
  });
});

it("tells an error of one write to the calls of that write alone", async () => {
  const { run, access } = open();
  access.write = async ([first, second]) => {
    const outcomes: WriteOutcomes = new Map([[second!, "written"]]);
    return outcomes.set(first!, { error: new Error("gone") });
  };
  const [call, other] = [take(a), take(b)];
  expect(await run("decide", call, other)).toMatchObject({ again: [], failed: true });
  expect([String(call.answer), other.answer]).toEqual(["Error: gone", [0]]);
});

it("knows no longer that a row has no tokens once the row is written", async () => {
  const { run, spent } = open();
  for (const id of [a, b]) spent.set(rowKey(id), Infinity);
  await run("decide", take(a), look(b));
  expect([...spent.keys()]).toEqual([rowKey(b)]);
});

it("takes nothing for a call that has timed out while its row was read", async () => {
  const late = take(a);
  const { run, rows } = open({ beforeRead: () => void (late.expired = true) });
  const other = take(a);
  await run("decide", late, other);
  expect([String(late.answer), other.answer]).toEqual([expect.stringContaining("timed out"), [0]]);
  expect(rows.get(rowKey(a))!.used).toBe(1);
});

describe("a batch", () => {
  const { ways } = open();
  const joins = (of: "decide" | "lock", call: Call, name: WayName, maxRows = 256) => {
    const batch = ways[of].begin(take(a));
    return ways[of].join(batch, call, ways[name], maxRows);
  };

  it("of guarded writes takes calls on any rows, and plain ones on its own rows", () => {
    expect(joins("decide", take(b), "decide")).toBe(true);
    expect(joins("decide", take(b), "decide", 1)).toBe(false);
    expect(joins("decide", take(a), "decide", 1)).toBe(true);
    expect(joins("decide", take(a), "take")).toBe(true);
    expect(joins("decide", take(b), "take")).toBe(false);
    expect(joins("decide", take(a), "lock")).toBe(false);
  });

  it("that locks takes calls that share its rows", () => {
    expect(joins("lock", take(b), "lock")).toBe(false);
    expect(joins("lock", take(a, b), "lock")).toBe(true);
    expect(joins("lock", take(a, b), "lock", 1)).toBe(false);
    expect(joins("lock", take(a, b), "decide")).toBe(false);
    expect(joins("lock", take(a), "take")).toBe(true);
  });

  it("of reads takes calls on any rows, up to 300,000 characters of names and keys", () => {
    const { name } = a;
    const joinsAfter = (characters: number) => {
      const batch = ways.read.begin(look({ ...a, key: "k".repeat(characters - name.length) }));
      return ways.read.join(batch, look(b), ways.read, 1);
    };
    expect([joinsAfter(299_999), joinsAfter(300_000)]).toEqual([true, false]);
  });
});
