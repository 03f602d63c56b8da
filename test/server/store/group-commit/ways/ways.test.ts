import { expect, it } from "vitest";
import { SpentRows } from "../../../../../server/store/group-commit/spent-rows.js";
import { Ways } from "../../../../../server/store/group-commit/ways/ways.js";
import type { WayName } from "../../../../../server/store/group-commit/batch.js";
import { rowKey, type Submission } from "../../../../../server/store/store.js";
import { createFakeDatabase, row } from "../../sql/fake-database.js";

const config = { kind: "token bucket", rate: 10, period: 1000 } as const;
let time = 1000;

function call(isPlain: boolean): Submission<unknown> {
  const plain = { config, count: 1, floor: 0, clock: () => time, granted: () => undefined };
  const decision = { rows: [row("a")], decide: () => ({ result: undefined }) };
  return {
    decision: isPlain ? { ...decision, plain } : decision,
    expired: false,
    resolve() {},
    reject() {},
  };
}

function open(options: { serializable?: boolean; canTake?: boolean } = {}) {
  const { access } = createFakeDatabase({ hasLocks: true });
  const { serializable = false, canTake = true } = options;
  const spent = new SpentRows();
  const take = canTake ? access.take : undefined;
  const takeOne = canTake ? async () => undefined : undefined;
  const ways = new Ways({ ...access, serializable, take, takeOne }, spent);
  /** The calls have to be decided again, on this way. */
  const again = (job: Submission<unknown>, from: WayName, nextWay: WayName, conflicts = 1) => {
    const batch = ways.begin(ways[from], job);
    return ways.finish(batch, { again: [job], nextWay, conflicts, failed: false, answer() {} });
  };
  /** The call is answered. */
  const answered = (job: Submission<unknown>) => {
    const done = { again: [], nextWay: "take", conflicts: 0, failed: false, answer() {} } as const;
    ways.finish(ways.begin(ways.of(job), job), done);
  };
  return { ways, spent, again, answered };
}

it("goes by the decision and by what the database can", () => {
  expect(open().ways.of(call(true)).name).toBe("take");
  expect(open().ways.of(call(false)).name).toBe("decide");
  expect(open({ canTake: false }).ways.of(call(true)).name).toBe("decide");
  expect(open({ serializable: true }).ways.of(call(true)).name).toBe("lock");
});

it("reads a row that is known to have no tokens, until it has some again", () => {
  const { ways, spent } = open();
  spent.set(rowKey(row("a")), 2000);
  time = 1999;
  expect(ways.of(call(true)).name).toBe("decide");
  time = 2000;
  expect(ways.of(call(true)).name).toBe("take");
  spent.set(rowKey(row("a")), Infinity);
  expect(ways.of(call(true)).name).toBe("decide");
  spent.delete(rowKey(row("a")));
  expect(ways.of(call(true)).name).toBe("take");
});

it("goes on the way that the last batch of a call has said, and counts its conflicts in a row", () => {
  const { ways, again } = open();
  const job = call(true);
  expect(again(job, "decide", "lock")).toBe(1);
  expect([ways.of(job).name, ways.isHeld(job)]).toEqual(["lock", false]);
  expect(again(job, "lock", "lock")).toBe(2);
  expect([ways.of(job).name, ways.isHeld(job)]).toEqual(["lock", true]);
  expect(again(job, "lock", "decide", 0)).toBe(0);
  expect(ways.of(job).name).toBe("decide");
  expect(again(job, "decide", "take")).toBe(1);
  expect(ways.of(job).name).toBe("take");
  again(job, "decide", "lock");
  ways.forget(job);
  expect([ways.of(job).name, ways.isHeld(job)]).toEqual(["take", false]);
});

it("lets a plain call go alone, unless something is known that speaks for another way", () => {
  const { ways, spent, again, answered } = open();
  const goesAlone = (of = ways, job = call(true)) => of.alone(job) !== undefined;
  expect(goesAlone()).toBe(true);
  expect(goesAlone(ways, call(false))).toBe(false);
  expect(goesAlone(ways, { ...call(true), expired: true })).toBe(false);
  expect(goesAlone(open({ canTake: false }).ways)).toBe(false);
  expect(goesAlone(open({ serializable: true }).ways)).toBe(false);
  spent.set(rowKey(row("other")), Infinity);
  expect(goesAlone()).toBe(true);
  spent.set(rowKey(row("a")), Infinity);
  expect(goesAlone()).toBe(false);
  spent.delete(rowKey(row("a")));
  const late = call(true);
  again(late, "decide", "lock");
  expect(goesAlone()).toBe(false);
  answered(late);
  expect(goesAlone()).toBe(true);
});

it("leaves a call to decide whose clock tells no time", () => {
  const { ways } = open();
  const job = call(true);
  time = NaN;
  expect(ways.begin(ways.take, job).way.name).toBe("decide");
  expect(ways.of(job).name).toBe("decide");
  time = 1000;
});
