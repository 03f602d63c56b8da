import { expect, it } from "vitest";
import { Flights } from "../../../../server/store/group-commit/flights.js";
import { Queue } from "../../../../server/store/group-commit/queue.js";
import { SpentRows } from "../../../../server/store/group-commit/spent-rows.js";
import { Ways } from "../../../../server/store/group-commit/ways/ways.js";
import type { Submission } from "../../../../server/store/store.js";
import { createFakeDatabase, row } from "../sql/fake-database.js";

interface Call extends Submission<unknown> {
  expired: boolean;
  error: unknown;
}

function callOn(keys: readonly string[], readOnly = false): Call {
  const rows = keys.map(row);
  const decide = () => ({ result: undefined });
  const call: Call = {
    decision: { rows, readOnly, decide },
    expired: false,
    error: undefined,
    resolve() {},
    reject: (error) => void (call.error = error),
  };
  return call;
}

function open() {
  const { access } = createFakeDatabase({ hasLocks: true });
  const flights = new Flights(access);
  const ways = new Ways(access, new SpentRows());
  const queue = new Queue(ways, flights);
  /** Dispatches the next batch. Returns the keys of its rows. */
  const next = () => {
    const batch = queue.next();
    if (batch === undefined) return undefined;
    flights.start(batch, 0);
    return { batch, keys: batch.jobs.map(({ decision }) => decision.rows[0]!.key) };
  };
  return { flights, ways, queue, next };
}

it("says whether a call has to wait for the end of a batch that is in flight", () => {
  const { queue, next } = open();
  expect(queue.add(callOn(["a"]))).toBe(true);
  next();
  expect(queue.add(callOn(["a"]))).toBe(false);
  expect(queue.add(callOn(["b"]))).toBe(true);
  expect(queue.add(callOn(["a"], true))).toBe(true);
  expect([queue.writers, queue.size]).toEqual([2, 3]);
});

it("alternates between calls that read and calls that write", () => {
  const { queue, next } = open();
  for (const key of ["a", "b"]) queue.add(callOn([key]));
  for (const key of ["c", "d"]) queue.add(callOn([key], true));
  const order = [next(), next()];
  expect(order.map((each) => each!.batch.way.name)).toEqual(["read", "decide"]);
  expect(order.map((each) => each!.keys)).toEqual([
    ["c", "d"],
    ["a", "b"],
  ]);
  expect(next()).toBeUndefined();
});

it("lets no call that only reads go out while others read", () => {
  const { queue, flights, next } = open();
  queue.add(callOn(["a"], true));
  const first = next()!.batch;
  queue.add(callOn(["a"], true));
  expect(next()).toBeUndefined();
  flights.end(first, 1);
  expect(next()!.keys).toEqual(["a"]);
});

it("blocks the rows of a call that waits for the calls behind it", () => {
  const { queue, next } = open();
  queue.add(callOn(["a"]));
  next();
  queue.add(callOn(["a", "b"]));
  queue.add(callOn(["b"]));
  queue.add(callOn(["c"]));
  expect(next()!.keys).toEqual(["c"]);
});

it("puts calls that are decided again before those that came later", () => {
  const { queue, flights, next } = open();
  queue.add(callOn(["a"]));
  const { batch } = next()!;
  flights.end(batch, 1);
  queue.add(callOn(["b"]));
  queue.putBack(batch, batch.jobs);
  expect(next()!.keys).toEqual(["a", "b"]);
});

it("rejects a call that has timed out, and sends the others", () => {
  const { queue, next } = open();
  const late = callOn(["a"]);
  late.expired = true;
  queue.add(late);
  queue.add(callOn(["b"]));
  expect(next()!.keys).toEqual(["b"]);
  expect(String(late.error)).toContain("timed out");
});

it("looks for calls that have timed out as soon as many wait", () => {
  const { queue } = open();
  const calls = Array.from({ length: 1001 }, (_, i) => callOn([`${i}`]));
  for (const call of calls.slice(0, 1000)) {
    queue.add(call);
    call.expired = true;
  }
  expect(queue.size).toBe(1000);
  queue.add(calls[1000]!);
  expect(queue.size).toBe(1);
});

it("rejects all waiting calls", () => {
  const { queue } = open();
  const calls = [callOn(["a"]), callOn(["b"], true)];
  for (const call of calls) queue.add(call);
  queue.rejectAll(new Error("no table"));
  expect([queue.size, ...calls.map(({ error }) => String(error))]).toEqual([
    0,
    "Error: no table",
    "Error: no table",
  ]);
});
