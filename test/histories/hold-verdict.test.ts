/** The checker of histories of holds accepts exactly the histories that can happen. */
import { describe, expect, it } from "vitest";
import { holdLimits } from "./hold-limits.js";
import type { HoldAction, HoldAnswer, HoldCall } from "./hold-model.js";
import { COUNT_SHARD } from "../../core/rows/hold.js";
import { problemOfRows, type StoredRow } from "./hold-rows.js";
import { bucketOf, checkHolds } from "./hold-verdict.js";

const CAPACITY = 20;
const { checked: limits } = holdLimits(CAPACITY);
const of = { name: "window", key: "a" };

const take = (count: number): HoldAction => ({ kind: "take", count });
const hold = (count: number, then: "keep" | "release" = "keep"): HoldAction => {
  return { kind: "hold", count, terms: { for: 100, then } };
};
const settle = (actual: number): HoldAction => ({ kind: "settle", actual });
const release: HoldAction = { kind: "release" };
const ok: HoldAnswer = { ok: true };
const repeated: HoldAnswer = { ok: true, repeated: true };
const ended = (count: number): HoldAnswer => ({ ok: true, count });
const not = (reason: NonNullable<HoldAnswer["reason"]>): HoldAnswer => ({ ok: false, reason });

type Line = [action: HoldAction, start: number, end: number, answer?: HoldAnswer];

/** @param left the tokens of the bucket when all holds have lapsed. */
function problemsOf(lines: readonly Line[], left: number, name = of.name): string[] {
  const calls = lines.map(([action, start, end, answer], i): HoldCall => {
    const id = action.kind === "take" ? `take ${i}` : "id";
    return { ...of, name, id, action, start, end, answer };
  });
  const known = new Map([[bucketOf({ ...of, name }), left]]);
  return checkHolds(calls, { limits, clockError: 1, left: known }).problems;
}

const SETTLED: Line[] = [
  [hold(5), 0, 2, ok],
  [settle(3), 10, 12, ended(5)],
];
const LATE: Line[] = [[hold(5, "release"), 0, 2, ok]];

describe("accepts a history", () => {
  it.each<[title: string, lines: Line[], left: number]>([
    ["of a hold that is settled", SETTLED, 17],
    ["of a second settle", [...SETTLED, [settle(0), 13, 14, not("settled")]], 17],
    ["of a hold that is kept", [[hold(5), 0, 2, ok]], 15],
    ["of a hold that comes back", LATE, 20],
    ["of a settle that is late", [...LATE, [settle(5), 103, 104, not("given back")]], 20],
    ["of a settle that may be late", [...LATE, [settle(5), 99, 104, not("given back")]], 20],
    ["of a settle that may be in time", [...LATE, [settle(5), 99, 104, ended(5)]], 15],
    [
      "of an id that is released and taken again",
      [...LATE, [release, 10, 12, ended(5)], [hold(5), 20, 22, ok], [hold(5), 23, 24, repeated]],
      15,
    ],
    [
      "of two calls at the same time, the later of which came first",
      [
        [hold(5), 0, 20, ok],
        [release, 1, 19, not("unknown")],
      ],
      15,
    ],
    [
      "of a release without an answer that took effect late",
      [
        [hold(5), 0, 2, ok],
        [release, 3, Infinity],
        [settle(5), 10, 12, not("released")],
      ],
      20,
    ],
    ["of a hold without an answer that was never taken", [[hold(5), 0, Infinity]], 20],
    ["of a hold without an answer that was taken", [[hold(5), 0, Infinity]], 15],
    [
      "of calls without holds",
      [
        [take(5), 0, 2, ok],
        [take(20), 3, 4, { ok: false }],
      ],
      15,
    ],
  ])("%s", (_, lines, left) => expect(problemsOf(lines, left)).toEqual([]));
});

describe("rejects a history", () => {
  it.each<[title: string, lines: Line[], left: number]>([
    ["of a hold that is settled twice", [...SETTLED, [settle(0), 13, 14, ended(5)]], 17],
    ["of a release that ends a settled hold", [...SETTLED, [release, 13, 14, ended(5)]], 17],
    [
      "of a settle that ends another count",
      [
        [hold(5), 0, 2, ok],
        [settle(3), 3, 4, ended(4)],
      ],
      17,
    ],
    ["of a hold that is kept and came back", [[hold(5), 0, 2, ok]], 20],
    ["of a hold that did not come back", LATE, 15],
    ["of a release that gave back twice", [...LATE, [release, 10, 12, ended(5)]], 25],
    ["of a hold that was reclaimed early", [...LATE, [settle(5), 50, 60, not("given back")]], 20],
    ["of a hold that is settled late", [...LATE, [settle(5), 110, 120, ended(5)]], 15],
    [
      "of a settle after a release that gave back again",
      [
        [take(5), 0, 1, ok],
        ...LATE,
        [release, 10, 12, ended(5)],
        [settle(3), 13, 14, not("released")],
      ],
      17,
    ],
    [
      "of a hold that was never taken and is unknown",
      [
        [hold(5), 0, 2, ok],
        [settle(3), 3, 4, not("unknown")],
      ],
      15,
    ],
    [
      "of an id that is charged twice",
      [
        [hold(5), 0, 2, ok],
        [hold(5), 3, 4, ok],
      ],
      10,
    ],
    ["of tokens that are lost", [[take(5), 0, 2, ok]], 14],
  ])("%s", (_, lines, left) => expect(problemsOf(lines, left)).toHaveLength(1));

  it("of a limit that refills, and granted too much", () => {
    const lines: Line[] = [take(20), take(20)].map((action, i) => [action, i, i + 1, ok]);
    expect(problemsOf(lines, 0, "bucket")[0]).toContain("granted too much");
    expect(problemsOf([lines[0]!, [hold(20), 1010, 1011, ok]], 0, "bucket")).toEqual([]);
  });
});

describe("rows", () => {
  const row = (kind: string, key: string, used: number, ts = 100, shard = 0): StoredRow => {
    return { name: `trpc-rate-limit:${kind}:window`, key, shard, used, ts };
  };
  const good = [
    row("held", "a", 8, 90),
    row("held", "a", 2, 0, COUNT_SHARD),
    row("hold", "a|1", 5),
    row("hold", "a|2", -3, 91),
    row("once", "a|1", 0, 0),
    row("once", "a|2", 0, 0),
  ];

  it("that add up are accepted", () => {
    expect(problemOfRows(good)).toBeUndefined();
    expect(problemOfRows([])).toBeUndefined();
  });

  it.each<[title: string, rows: StoredRow[]]>([
    ["a hold without a marker", good.slice(0, -1)],
    ["a sum that is too small", good.map((each) => ({ ...each, used: Math.min(7, each.used) }))],
    ["a sum that lapses too late", good.map((each, i) => (i === 0 ? { ...each, ts: 92 } : each))],
    ["a count that is too small", good.map((each, i) => (i === 1 ? { ...each, used: 1 } : each))],
    ["holds without a count", good.filter((_, i) => i !== 1)],
    ["holds without a sum", good.slice(1)],
    ["a sum without holds", good.slice(0, 2)],
  ])("are rejected for %s", (_, rows) => expect(problemOfRows(rows)).toEqual(expect.any(String)));
});
