import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkHistory } from "./check-history.js";
import { describeContradiction } from "./contradiction.js";
import {
  applyTo,
  isCertain,
  type Item,
  type ItemAnswer,
  type Operation,
  sameAnswer,
} from "./operation.js";

const granted = (value: number): ItemAnswer => ({ ok: true, value });
const denied = (value: number): ItemAnswer => ({ ok: false, value });
const a = (count = 0): Item => ({ key: "a", count });
const b = (count = 0): Item => ({ key: "b", count });

function op(
  action: Operation["action"],
  items: Item | Item[],
  [start, end = Infinity]: [start: number, end?: number],
  ...answer: ItemAnswer[]
): Operation {
  const known = answer.length > 0 || action === "reset";
  return {
    process: "1",
    action,
    items: [items].flat(),
    start,
    end,
    answer: known && end !== Infinity ? answer : undefined,
  };
}

describe("a history is explained", () => {
  it.each<[title: string, history: Operation[]]>([
    ["when nothing happened", []],
    [
      "when overlapping answers fit in another order than that of their calls",
      [
        op("limit", a(2), [0, 10], granted(1)),
        op("limit", a(1), [1, 9], granted(4)),
        op("limit", a(1), [2, 8], granted(3)),
      ],
    ],
    [
      "when a reset could have come at the one moment that explains the rest",
      [
        op("limit", a(5), [0, 1], granted(0)),
        op("reset", a(), [2, 20]),
        op("limit", a(1), [3, 4], denied(0)),
        op("limit", a(1), [5, 6], granted(4)),
      ],
    ],
    [
      "when an operation of unknown outcome must have happened, long after its call",
      [
        op("limit", a(3), [0]),
        op("limit", a(1), [1, 2], granted(4)),
        op("getValue", a(), [3, 4], granted(1)),
      ],
    ],
    [
      "when an operation of unknown outcome cannot have happened",
      [op("limit", a(3), [0]), op("getValue", a(), [1, 2], granted(5))],
    ],
    [
      "when limits taken together were denied together",
      [
        op("limit", a(5), [0, 1], granted(0)),
        op("limitAll", [a(1), b(2)], [2, 3], denied(0), granted(3)),
        op("getValue", b(), [4, 5], granted(5)),
      ],
    ],
  ])("%s", (_, history) => {
    expect(checkHistory(history, 5).ok).toBe(true);
  });
});

describe("a history is refused", () => {
  it.each<[title: string, history: Operation[]]>([
    [
      "for six grants of five",
      [0, 1, 2, 3, 4, 4].map((left) => op("limit", a(1), [0, 10], granted(left))),
    ],
    ["for a denial while it was full", [op("limit", a(1), [0, 1], denied(0))]],
    [
      "for a value that was never there",
      [op("limit", a(2), [0, 9], granted(3)), op("getValue", a(), [1, 8], granted(4))],
    ],
    [
      "for a value that was no longer there",
      [op("limit", a(2), [0, 1], granted(3)), op("getValue", a(), [2, 3], granted(5))],
    ],
    [
      "for values seen in turns that no order has",
      [
        op("limit", a(1), [0, 9], granted(4)),
        op("getValue", a(), [1, 2], granted(4)),
        op("getValue", a(), [3, 4], granted(5)),
      ],
    ],
    [
      "when an operation of unknown outcome would have to happen before its call",
      [op("getValue", a(), [0, 1], granted(2)), op("limit", a(3), [2])],
    ],
    [
      "when an operation of unknown outcome would have to happen twice",
      [
        op("limit", a(2), [0]),
        op("getValue", a(), [1, 2], granted(3)),
        op("getValue", a(), [3, 4], granted(1)),
      ],
    ],
    [
      "when only one of two limits taken together was charged",
      [
        op("limitAll", [a(1), b(1)], [0, 1], granted(4), granted(4)),
        op("getValue", b(), [2, 3], granted(5)),
      ],
    ],
  ])("%s", (_, history) => {
    expect(checkHistory(history, 5).ok).toBe(false);
  });

  it("with what contradicts itself, and nothing else", () => {
    const noise = [0, 1, 2, 3, 4].flatMap((i) => [
      op("limit", a(1), [4 * i, 4 * i + 1], granted(4)),
      op("refund", a(1), [4 * i + 2, 4 * i + 3], granted(5)),
    ]);
    const lost = [
      op("limit", a(1), [2_000_000, 4_000_000], granted(4)),
      op("limit", a(2), [3_000_000, 5_000_000], granted(3)),
    ];
    const verdict = checkHistory([...noise, ...lost, ...noise.map(later)], 5);
    expect(verdict.ok || describeContradiction(verdict.contradiction)).toBe(
      [
        "No serial order explains these answers, of buckets of 5, whatever they held before:",
        "  process  called  answered  operation  tokens left",
        "  1        0.000   2.000     limit a 1  4",
        "  1        1.000   3.000     limit a 2  3",
      ].join("\n"),
    );
  });
});

function later(operation: Operation): Operation {
  return { ...operation, start: operation.start + 1e7, end: operation.end + 1e7 };
}

describe("the search", () => {
  const CAPACITY = 2;
  const item = fc.record({ key: fc.constantFrom("a", "b"), count: fc.integer({ min: 1, max: 2 }) });
  const answered = (ok: fc.Arbitrary<boolean>) =>
    fc.record({ ok, value: fc.integer({ min: 0, max: CAPACITY }) });
  const yes = answered(fc.constant(true));
  const any = answered(fc.boolean());
  const shapes = [
    fc.record({
      action: fc.constant("limit" as const),
      items: fc.tuple(item),
      said: fc.tuple(any),
    }),
    fc.record({
      action: fc.constant("refund" as const),
      items: fc.tuple(item),
      said: fc.tuple(yes),
    }),
    fc.record({
      action: fc.constant("getValue" as const),
      items: fc.tuple(item),
      said: fc.tuple(yes),
    }),
    fc.record({
      action: fc.constant("reset" as const),
      items: fc.tuple(item),
      said: fc.constant([]),
    }),
    fc.record({
      action: fc.constant("limitAll" as const),
      items: fc.constant([a(1), b(1)]),
      said: fc.tuple(any, any),
    }),
  ];
  const operation = fc
    .tuple(fc.oneof(...shapes), fc.nat(20), fc.nat(10), fc.nat(4))
    .map(([{ action, items, said }, start, length, luck]): Operation => {
      const times = { start, end: luck === 0 ? Infinity : start + length };
      return { process: "1", action, items, ...times, answer: luck === 0 ? undefined : said };
    });

  it("agrees with trying all orders, and so does what it shrinks to", () => {
    let explained = 0;
    fc.assert(
      fc.property(
        fc.array(operation, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (raw, honest) => {
          const history = honest ? answeredInTurn(raw) : raw;
          const verdict = checkHistory(history, CAPACITY);
          expect(verdict.ok).toBe(explainable(history, [CAPACITY, CAPACITY]));
          if (verdict.ok) explained++;
          else {
            const { operations, from } = verdict.contradiction;
            const starts = from === "full" ? [[CAPACITY, CAPACITY]] : ALL_STATES;
            for (const state of starts) expect(explainable(operations, state)).toBe(false);
          }
        },
      ),
      { numRuns: 1500, seed: 1 },
    );
    expect(explained).toBeGreaterThan(500);
  });

  const ALL_STATES = [0, 1, 2].flatMap((first) => [0, 1, 2].map((second) => [first, second]));

  /** With the answers that they would get one after the other, as they are listed. */
  function answeredInTurn(history: readonly Operation[]): Operation[] {
    let state = [CAPACITY, CAPACITY];
    return history.map((each) => {
      const { answer, state: next } = step(each, state);
      state = next;
      return each.answer === undefined ? each : { ...each, answer };
    });
  }

  /** By brute force: whether some order of all that is certain and some of the rest will do. */
  function explainable(left: readonly Operation[], state: readonly number[]): boolean {
    if (!left.some(isCertain)) return true;
    return left.some((each) => {
      if (left.some(({ end }) => end < each.start)) return false;
      const { answer, state: next } = step(each, state);
      if (each.answer !== undefined && !sameAnswer(each.answer, answer)) return false;
      return explainable(
        left.filter((other) => other !== each),
        next,
      );
    });
  }

  function step(each: Operation, state: readonly number[]) {
    const indexes = each.items.map(({ key }) => ["a", "b"].indexOf(key));
    const values = indexes.map((index) => state[index]!);
    const { answer, next } = applyTo(values, each, CAPACITY);
    const changed = [...state];
    for (const [i, index] of indexes.entries()) changed[index] = next[i]!;
    return { answer, state: changed };
  }
});
