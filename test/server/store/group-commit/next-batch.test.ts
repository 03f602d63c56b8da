import { expect, it } from "vitest";
import { Flights } from "../../../../server/store/group-commit/flights.js";
import {
  MAX_CALLS,
  nextReaders,
  nextWriters,
} from "../../../../server/store/group-commit/next-batch.js";
import { SpentRows } from "../../../../server/store/group-commit/spent-rows.js";
import { Ways } from "../../../../server/store/group-commit/ways/ways.js";
import type { Submission } from "../../../../server/store/store.js";
import { createFakeDatabase, row } from "../sql/fake-database.js";

const callOn = (...keys: string[]): Submission<unknown> => ({
  decision: { rows: keys.map(row), decide: () => ({ result: undefined }) },
  expired: false,
  resolve() {},
  reject() {},
});

function open() {
  const { access } = createFakeDatabase({ hasLocks: true });
  return { ways: new Ways(access, new SpentRows()), flights: new Flights(access) };
}

/** So that the calls go on the way that locks, as after a conflict. */
function lost(ways: Ways, calls: readonly Submission<unknown>[], isHeld = false) {
  const batch = ways.begin(isHeld ? ways.lock : ways.decide, calls[0]!);
  const outcome = { again: calls, nextWay: "lock", conflicts: 1, failed: false } as const;
  ways.finish(batch, { ...outcome, answer() {} });
}

const keysOf = (calls: readonly Submission<unknown>[]) =>
  calls.map(({ decision }) => decision.rows.map(({ key }) => key).join("+"));

it("takes at most 256 rows and 1,024 calls", () => {
  const { ways, flights } = open();
  const calls = Array.from({ length: 300 }, (_, i) => callOn(`${i}`));
  const { batch, waiting } = nextWriters(ways, flights, calls);
  expect([batch!.jobs.length, waiting.length]).toEqual([256, 44]);
  const same = Array.from({ length: 1100 }, () => callOn("a"));
  const next = nextWriters(ways, flights, same);
  expect([next.batch!.jobs.length, next.waiting.length]).toEqual([MAX_CALLS, 76]);
});

it("takes a quarter of the calls of a long queue from its end, the newest ones first", () => {
  const { ways, flights } = open();
  const calls = Array.from({ length: 5000 }, () => callOn("a"));
  const { batch, waiting } = nextWriters(ways, flights, calls);
  const taken = batch!.jobs.map((job) => calls.indexOf(job));
  expect(taken.filter((index) => index < 768)).toHaveLength(768);
  expect(taken.slice(768)).toEqual(Array.from({ length: 256 }, (_, i) => 4999 - i));
  expect(waiting).toEqual(calls.slice(768, 4744));
});

it("leaves calls waiting whose rows are busy, in their order", () => {
  const { ways, flights } = open();
  const busy = callOn("b");
  flights.start(ways.begin(ways.decide, busy), 0);
  const calls = [callOn("b"), callOn("a"), callOn("b", "c"), callOn("c"), callOn("d")];
  const { batch, waiting } = nextWriters(ways, flights, calls);
  expect([keysOf(batch!.jobs), keysOf(waiting)]).toEqual([
    ["a", "d"],
    ["b", "b+c", "c"],
  ]);
});

it("begins no second batch that locks rows, unless its calls have waited in vain before", () => {
  const { ways, flights } = open();
  const [first, second] = [callOn("a"), callOn("b")];
  lost(ways, [first]);
  flights.start(nextWriters(ways, flights, [first]).batch!, 0);
  lost(ways, [second]);
  expect(nextWriters(ways, flights, [second]).batch).toBeUndefined();
  lost(ways, [second], true);
  const { batch } = nextWriters(ways, flights, [second]);
  expect([batch!.way.name, batch!.waits]).toEqual(["lock", true]);
});

it("lets the other rows of a call that waits for a held row go meanwhile", () => {
  const { ways, flights } = open();
  const held = ways.begin(ways.lock, callOn("held"));
  held.waits = true;
  flights.start(held, 0);
  const calls = [callOn("held", "free"), callOn("free")];
  const { batch, waiting } = nextWriters(ways, flights, calls);
  expect([keysOf(batch!.jobs), keysOf(waiting)]).toEqual([["free"], ["held+free"]]);
});

it("reads for so many callers as fit into one packet", () => {
  const { ways } = open();
  const long = "x".repeat(100_000);
  const calls = ["1", "2", "3", "4", "5"].map((digit) => callOn(digit + long));
  const { batch, waiting } = nextReaders(ways, calls);
  expect([batch!.jobs.length, waiting.length]).toEqual([3, 2]);
});
