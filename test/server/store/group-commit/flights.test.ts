/** The table at the head of `flights.ts`, row by row. */
import { beforeEach, describe, expect, it } from "vitest";
import { GeneralBatch } from "../../../../server/store/group-commit/batch.js";
import { Flights } from "../../../../server/store/group-commit/flights.js";
import type { Way, WayName } from "../../../../server/store/group-commit/batch.js";
import { type Decision, rowKey } from "../../../../server/store/store.js";
import { row } from "../sql/fake-database.js";

const decision = (...keys: string[]): Decision<undefined> => ({
  rows: keys.map(row),
  decide: () => ({ result: undefined }),
});

/** A batch of one call on these rows. */
function batchOf(name: WayName, ...keys: string[]): GeneralBatch {
  const batch = new GeneralBatch({ name } as Way);
  batch.add({ decision: decision(...keys), expired: false, resolve() {}, reject() {} });
  return batch;
}

let flights: Flights;
beforeEach(() => {
  flights = new Flights({ maxInFlight: 2, serializable: false });
});

describe("a batch", () => {
  it.each([
    ["take", ["a"]],
    ["take", ["a", "b"]],
    ["decide", ["a", "b"]],
  ] as const)("keeps its rows busy from its dispatch to its answer: %s of %j", (way, keys) => {
    const batch = batchOf(way, ...keys);
    expect(batch.place).toBe("queued");
    flights.start(batch, 0);
    expect([batch.place, [...flights.busy], flights.isIdle]).toEqual([
      "in flight",
      keys.map((key) => rowKey(row(key))),
      false,
    ]);
    flights.end(batch, 5);
    expect([batch.place, flights.busy.size, flights.isIdle]).toEqual(["answered", 0, true]);
  });

  it("keeps no row busy if it only reads", () => {
    flights.start(batchOf("read", "a"), 0);
    expect([flights.busy.size, flights.isReading, flights.isIdle]).toEqual([0, true, false]);
  });

  it.each(["take", "decide"] as const)(
    "leaves room for another one until the bound of those in flight: %s",
    (way) => {
      flights.start(batchOf(way, "a"), 0);
      expect(flights.hasRoom).toBe(true);
      flights.start(batchOf(way, "b"), 0);
      expect(flights.hasRoom).toBe(false);
      const single = new Flights({ maxInFlight: 1, serializable: false });
      single.start(batchOf(way, "a"), 0);
      expect(single.hasRoom).toBe(false);
    },
  );

  it("is set aside after 50 ms if it locks its rows, which stay busy", () => {
    const [locking, guarded] = [batchOf("lock", "a"), batchOf("decide", "b")];
    for (const each of [locking, guarded]) flights.start(each, 0);
    flights.look(49);
    expect(locking.place).toBe("in flight");
    flights.look(50);
    expect([locking.place, guarded.place]).toEqual(["aside", "in flight"]);
    expect([[...flights.busy].length, [...flights.awaited].length]).toEqual([2, 1]);
    expect(flights.hasRoom).toBe(true);
    flights.end(locking, 60);
    expect([flights.busy.size, flights.awaited.size]).toEqual([1, 0]);
  });

  it("is set aside at once if it is expected to wait", () => {
    const batch = batchOf("lock", "a");
    batch.waits = true;
    flights.start(batch, 0);
    expect([batch.place, flights.isLocking]).toEqual(["aside", false]);
  });

  it("finds three places aside, of which the last one is for a batch that has just begun to wait", () => {
    const batches = ["a", "b", "c", "d"].map((key) => batchOf("lock", key));
    const seen = batches.map((batch, i) => {
      const { mayWait } = flights;
      const isHurried = flights.start(batch, 100 * i);
      flights.look(100 * i + 50);
      return [mayWait, batch.place, isHurried];
    });
    expect(seen).toEqual([
      [true, "aside", false],
      [true, "aside", false],
      [false, "aside", false],
      [false, "in flight", true],
    ]);
  });

  it("is never set aside in a Serializable transaction", () => {
    const careful = new Flights({ maxInFlight: 2, serializable: true });
    const batch = batchOf("lock", "a");
    careful.start(batch, 0);
    careful.look(4999);
    expect([batch.place, careful.mayWait]).toEqual(["in flight", false]);
  });

  it.each([
    ["take", ["a"], 100],
    ["take", ["a", "b"], 5000],
    ["decide", ["a"], 5000],
    ["read", ["a"], 5000],
  ] as const)("of the way %s on the rows %j has stalled after %i ms", (way, keys, ms) => {
    const batch = batchOf(way, ...keys);
    flights.start(batch, 0);
    flights.look(ms - 1);
    expect(batch.place).toBe("in flight");
    flights.look(ms);
    expect([batch.place, flights.busy.size, flights.hasRoom]).toEqual(["stalled", 0, true]);
  });

  it("stalls after 5 s also where it was set aside, which frees its rows", () => {
    const batch = batchOf("lock", "a");
    flights.start(batch, 0);
    flights.look(50);
    flights.look(5000);
    expect([batch.place, flights.busy.size, flights.awaited.size]).toEqual(["stalled", 0, 0]);
  });

  it("does not free the rows of the batch that came after it when it is answered at last", () => {
    const [late, next] = [batchOf("take", "a"), batchOf("take", "a")];
    flights.start(late, 0);
    flights.look(100);
    flights.start(next, 100);
    flights.end(late, 110);
    expect([late.place, flights.busy.size]).toEqual(["answered", 1]);
  });

  it("stays in flight while two others have stalled, until the database was silent for 10 s", () => {
    const [first, second, third] = ["a", "b", "c"].map((key) => batchOf("take", key)) as [
      GeneralBatch,
      GeneralBatch,
      GeneralBatch,
    ];
    for (const each of [first, second]) flights.start(each, 0);
    flights.look(100);
    flights.start(third, 100);
    flights.look(9999);
    expect([first, second, third].map(({ place }) => place)).toEqual([
      "stalled",
      "stalled",
      "in flight",
    ]);
    flights.look(10_000);
    expect([first, second, third].map(({ place }) => place)).toEqual([
      "given up",
      "stalled",
      "stalled",
    ]);
  });

  it("leaves its place to another one once it is answered, also after it was given up", () => {
    const batches = Array.from({ length: 6 }, (_, i) => batchOf("take", `${i}`));
    const [first, second, third, fourth, fifth, sixth] = batches as [
      GeneralBatch,
      GeneralBatch,
      GeneralBatch,
      GeneralBatch,
      GeneralBatch,
      GeneralBatch,
    ];
    const places = () => batches.map(({ place }) => place);
    for (const batch of [first, second]) flights.start(batch, 0);
    flights.look(100);
    flights.end(first, 200);
    for (const batch of [third, fourth]) flights.start(batch, 200);
    // One place is free, the place of the first batch.
    flights.look(300);
    expect(places().slice(0, 4)).toEqual(["answered", "stalled", "stalled", "in flight"]);
    flights.look(10_200);
    expect(places().slice(1, 4)).toEqual(["given up", "stalled", "stalled"]);
    flights.end(second, 10_300);
    for (const batch of [fifth, sixth]) flights.start(batch, 10_300);
    // No batch is given up any more, so the next batch is given up after 10 s, and not 20 s.
    flights.look(20_299);
    expect(places().slice(2, 4)).toEqual(["stalled", "stalled"]);
    flights.look(20_300);
    expect(places().slice(1, 5)).toEqual(["answered", "given up", "stalled", "stalled"]);
  });

  it("is given up only where fewer than two are, and each waits for twice as long", () => {
    const batches = Array.from({ length: 6 }, (_, i) => batchOf("take", `${i}`));
    const places = () => batches.map(({ place }) => place);
    for (const batch of batches.slice(0, 2)) flights.start(batch, 0);
    flights.look(100);
    for (const batch of batches.slice(2, 4)) flights.start(batch, 100);
    flights.look(10_000);
    flights.look(29_999);
    expect(places().filter((place) => place === "given up")).toHaveLength(1);
    flights.look(30_000);
    expect(places().filter((place) => place === "given up")).toHaveLength(2);
    for (const batch of batches.slice(4)) flights.start(batch, 30_000);
    flights.look(1e9);
    expect(places()).toEqual([
      "given up",
      "given up",
      "stalled",
      "stalled",
      "in flight",
      "in flight",
    ]);
    expect(flights.hasRoom).toBe(false);
  });
});

it("says that something has waited once a batch has no answer that is not new", () => {
  flights.start(batchOf("take", "a"), 0);
  expect([flights.hasWaited(49), flights.hasWaited(50)]).toEqual([false, true]);
});

it.each([
  ["another batch has just begun", "decide", 0, false],
  ["another batch waits for locked rows", "lock", 50, true],
  ["another take has stalled", "take", 100, true],
] as const)("hurries a take where it has to: %s", (_, way, ms, isHurried) => {
  expect(flights.start(batchOf("take", "a"), ms)).toBe(false);
  flights.start(batchOf(way, "b"), 0);
  flights.look(ms);
  expect(flights.start(batchOf("take", "c"), ms)).toBe(isHurried);
});
