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

describe("accepts a history", () => {
  it.each<[title: string, history: Operation[]]>([
    ["that is empty", []],
    [
      "when overlapping operations took effect in another order than their calls",
      [
        op("limit", a(2), [0, 10], granted(1)),
        op("limit", a(1), [1, 9], granted(4)),
        op("limit", a(1), [2, 8], granted(3)),
      ],
    ],
    [
      "when a reset explains the other answers at exactly one point",
      [
        op("limit", a(5), [0, 1], granted(0)),
        op("reset", a(), [2, 20]),
        op("limit", a(1), [3, 4], denied(0)),
        op("limit", a(1), [5, 6], granted(4)),
      ],
    ],
    [
      "when an operation of unknown outcome must have taken effect, long after its call",
      [
        op("limit", a(3), [0]),
        op("limit", a(1), [1, 2], granted(4)),
        op("getValue", a(), [3, 4], granted(1)),
      ],
    ],
    [
      "when an operation of unknown outcome cannot have taken effect",
      [op("limit", a(3), [0]), op("getValue", a(), [1, 2], granted(5))],
    ],
    [
      "when two limits in one call are denied together",
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

describe("rejects a history", () => {
  it.each<[title: string, history: Operation[]]>([
    [
      "with six grants from a bucket of five",
      [0, 1, 2, 3, 4, 4].map((remaining) => op("limit", a(1), [0, 10], granted(remaining))),
    ],
    ["with a denial while the bucket was full", [op("limit", a(1), [0, 1], denied(0))]],
    [
      "with a value that the bucket never held",
      [op("limit", a(2), [0, 9], granted(3)), op("getValue", a(), [1, 8], granted(4))],
    ],
    [
      "with a value that the bucket no longer held",
      [op("limit", a(2), [0, 1], granted(3)), op("getValue", a(), [2, 3], granted(5))],
    ],
    [
      "with two reads in an order that no serial order gives",
      [
        op("limit", a(1), [0, 9], granted(4)),
        op("getValue", a(), [1, 2], granted(4)),
        op("getValue", a(), [3, 4], granted(5)),
      ],
    ],
    [
      "when an operation of unknown outcome would have to take effect before its call",
      [op("getValue", a(), [0, 1], granted(2)), op("limit", a(3), [2])],
    ],
    [
      "when an operation of unknown outcome would have to take effect twice",
      [
        op("limit", a(2), [0]),
        op("getValue", a(), [1, 2], granted(3)),
        op("getValue", a(), [3, 4], granted(1)),
      ],
    ],
    [
      "when only one of two limits in one call was charged",
      [
        op("limitAll", [a(1), b(1)], [0, 1], granted(4), granted(4)),
        op("getValue", b(), [2, 3], granted(5)),
      ],
    ],
  ])("%s", (_, history) => {
    expect(checkHistory(history, 5).ok).toBe(false);
  });

  it("and reports only the operations that contradict each other", () => {
    const noise = [0, 1, 2, 3, 4].flatMap((i) => [
      op("limit", a(1), [4 * i, 4 * i + 1], granted(4)),
      op("refund", a(1), [4 * i + 2, 4 * i + 3], granted(5)),
    ]);
    const contradictory = [
      op("limit", a(1), [2_000_000, 4_000_000], granted(4)),
      op("limit", a(2), [3_000_000, 5_000_000], granted(3)),
    ];
    const verdict = checkHistory([...noise, ...contradictory, ...noise.map(later)], 5);
    expect(verdict.ok || describeContradiction(verdict.contradiction)).toBe(
      [
        "No serial order explains these answers. Buckets of 5, with any initial value:",
        "  process  called  answered  operation  remaining",
        "  1        0.000   2.000     limit a 1  4",
        "  1        1.000   3.000     limit a 2  3",
      ].join("\n"),
    );
  });
});

function later(operation: Operation): Operation {
  return { ...operation, start: operation.start + 1e7, end: operation.end + 1e7 };
}

describe("the search for a serial order", () => {
  const CAPACITY = 2;
  const item = fc.record({ key: fc.constantFrom("a", "b"), count: fc.integer({ min: 1, max: 2 }) });
  const answered = (ok: fc.Arbitrary<boolean>) =>
    fc.record({ ok, value: fc.integer({ min: 0, max: CAPACITY }) });
  const granting = answered(fc.constant(true));
  const anyAnswer = answered(fc.boolean());
  const shapes = [
    fc.record({
      action: fc.constant("limit" as const),
      items: fc.tuple(item),
      answer: fc.tuple(anyAnswer),
    }),
    fc.record({
      action: fc.constant("refund" as const),
      items: fc.tuple(item),
      answer: fc.tuple(granting),
    }),
    fc.record({
      action: fc.constant("getValue" as const),
      items: fc.tuple(item),
      answer: fc.tuple(granting),
    }),
    fc.record({
      action: fc.constant("reset" as const),
      items: fc.tuple(item),
      answer: fc.constant([]),
    }),
    fc.record({
      action: fc.constant("limitAll" as const),
      items: fc.constant([a(1), b(1)]),
      answer: fc.tuple(anyAnswer, anyAnswer),
    }),
  ];
  const operation = fc
    .tuple(fc.oneof(...shapes), fc.nat(20), fc.nat(10), fc.nat(4))
    .map(([{ action, items, answer }, start, length, dice]): Operation => {
      const isUnknown = dice === 0;
      const times = { start, end: isUnknown ? Infinity : start + length };
      return { process: "1", action, items, ...times, answer: isUnknown ? undefined : answer };
    });

  it("agrees with a brute-force search, and shrinks to operations that still contradict each other", () => {
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.array(operation, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (raw, isSerial) => {
          const history = isSerial ? withSerialAnswers(raw) : raw;
          const verdict = checkHistory(history, CAPACITY);
          expect(verdict.ok).toBe(isLinearizable(history, [CAPACITY, CAPACITY]));
          if (verdict.ok) accepted++;
          else {
            const { operations, from } = verdict.contradiction;
            const starts = from === "full" ? [[CAPACITY, CAPACITY]] : ALL_STATES;
            for (const state of starts) expect(isLinearizable(operations, state)).toBe(false);
          }
        },
      ),
      { numRuns: 1500, seed: 1 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  const ALL_STATES = [0, 1, 2].flatMap((first) => [0, 1, 2].map((second) => [first, second]));

  /** The operations with the answers that they get if they run one after the other, in order. */
  function withSerialAnswers(history: readonly Operation[]): Operation[] {
    let state = [CAPACITY, CAPACITY];
    return history.map((each) => {
      const { answer, state: next } = step(each, state);
      state = next;
      return each.answer === undefined ? each : { ...each, answer };
    });
  }

  /** Tries all orders of the certain operations and of any of the uncertain ones. */
  function isLinearizable(rest: readonly Operation[], state: readonly number[]): boolean {
    if (!rest.some(isCertain)) return true;
    return rest.some((each) => {
      if (rest.some(({ end }) => end < each.start)) return false;
      const { answer, state: next } = step(each, state);
      if (each.answer !== undefined && !sameAnswer(each.answer, answer)) return false;
      return isLinearizable(
        rest.filter((other) => other !== each),
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
