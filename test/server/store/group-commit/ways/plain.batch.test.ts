import { describe, expect, it } from "vitest";
import { SpentRows } from "../../../../../server/store/group-commit/spent-rows.js";
import { noteTokens, PlainWay } from "../../../../../server/store/group-commit/ways/plain.js";
import { type PlainTake, rowKey, type Submission } from "../../../../../server/store/store.js";
import { createFakeDatabase, row } from "../../sql/fake-database.js";

/** A take of 1 from a bucket of 10 that refills one token in 1e8 ms. */
const take: PlainTake<unknown> = {
  config: { kind: "token bucket", rate: 10, period: 1e9 },
  count: 1,
  floor: 0,
  clock: () => 1e12,
  granted: () => "granted",
};

function call(key: string): Submission<unknown> & { expired: boolean; answer: unknown } {
  return {
    decision: { rows: [row(key)], plain: take, decide: () => ({ result: "decided" }) },
    expired: false,
    answer: undefined,
    resolve(answer) {
      this.answer = answer;
    },
    reject(error) {
      this.answer = error;
    },
  };
}

describe("a batch of the plain path", () => {
  it("takes calls on other rows as long as it has room for them, and on its own rows beyond", () => {
    const way = new PlainWay(createFakeDatabase({}).access, new SpentRows());
    const batch = way.begin(call("a"))!;
    expect(way.join(batch, call("b"), way, 1)).toBe(false);
    expect(way.join(batch, call("a"), way, 1)).toBe(true);
    expect(way.join(batch, call("b"), way, 2)).toBe(true);
    expect(way.join(batch, call("c"), way, 2)).toBe(false);
    expect(way.join(batch, call("b"), way, 2)).toBe(true);
    expect(batch.lines.map(({ row: { key }, total }) => [key, total])).toEqual([
      ["a", 2],
      ["b", 2],
    ]);
    expect(batch.ids).toEqual(["a", "b"].map((key) => rowKey(row(key))));
  });

  it("tells an error to all of its calls, waits for no held row in a hurry, and for no late call", async () => {
    const waits: boolean[] = [];
    const wanted: boolean[] = [];
    const calls = [call("a"), call("a"), call("b")] as const;
    const { access } = createFakeDatabase({
      async take(_, { mayWait, isWanted }) {
        waits.push(mayWait);
        wanted.push(isWanted());
        for (const late of calls) {
          late.expired = true;
          wanted.push(isWanted());
          late.expired = false;
        }
        throw new Error("gone");
      },
    });
    const way = new PlainWay(access, new SpentRows());
    const batch = way.begin(calls[0])!;
    for (const each of calls.slice(1)) expect(way.join(batch, each, way, 256)).toBe(true);
    const outcome = await way.carryOut(batch, true);
    expect(outcome).toMatchObject({ again: [], failed: true });
    outcome.answer();
    expect(calls.map(({ answer }) => String(answer))).toEqual(calls.map(() => "Error: gone"));
    expect(wanted).toEqual([true, false, false, false]);
    expect(waits).toEqual([false]);
  });
});

it("a row that had no tokens is known to have none until it gives some again", () => {
  const spent = new SpentRows();
  noteTokens(spent, "a", take, undefined, 1e12);
  expect(spent.get("a")).toBe(Infinity);
  noteTokens(spent, "a", take, { used: 10, ts: 1e12 }, 1e12);
  expect(spent.get("a")).toBe(1e12 + 1e8);
  noteTokens(spent, "a", take, { used: 9, ts: 1e12 }, 1e12);
  expect(spent.size).toBe(0);
});
