/** Decisions at once, within one tick, have the results of a batch of guarded writes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Row } from "../../../core/rows/row.js";
import {
  applyAtOnce,
  decideAtOnce,
  resultsOf,
  type RowsAtOnce,
} from "../../../server/store/at-once.js";
import { planWrites } from "../../../server/store/plan-writes.js";
import { type Decision, rowKey } from "../../../server/store/store.js";
import { cases } from "../../support/cases.js";

const rowOf = (key: string) => ({ name: "limit", key, shard: 0 });
const keys = ["a", "b", "c"];

/** What a decision does with each of its rows: it writes a number, deletes, or leaves the row. */
const step = fc.constantFrom<number | null | undefined>(0, 1, 2, null, undefined);
const decisions = fc.array(
  fc.record({
    rows: fc.uniqueArray(fc.constantFrom(...keys), { minLength: 1 }),
    steps: fc.array(step, { minLength: 3, maxLength: 3 }),
    throws: fc.boolean(),
    isNaN: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  }),
  { maxLength: 6 },
);
const start = fc.dictionary(fc.constantFrom(...keys), fc.nat(2), { maxKeys: 3 });

type Shape = typeof decisions extends fc.Arbitrary<(infer TShape)[]> ? TShape : never;

function decisionOf({ rows, steps, throws, isNaN }: Shape): Decision<string> {
  return {
    rows: rows.map(rowOf),
    decide(states) {
      const result = JSON.stringify(states);
      if (throws) throw new Error(result);
      const writes = steps.slice(0, rows.length).map((to, i) => {
        if (typeof to !== "number") return to;
        return { used: isNaN ? NaN : (states[i]?.used ?? 0) + to, ts: states[i]?.ts ?? 0 };
      });
      return { result, writes };
    },
  };
}

function rowsIn(states: Map<string, Row>): RowsAtOnce {
  return {
    get: (row) => states.get(rowKey(row)) ?? null,
    put: (row, next) =>
      void (next === null ? states.delete(rowKey(row)) : states.set(rowKey(row), next)),
  };
}

const statesOf = (values: Record<string, number>) =>
  new Map(Object.entries(values).map(([key, used]) => [rowKey(rowOf(key)), { used, ts: 0 }]));

describe("decisions within one tick", () => {
  it("have the results and the rows of a batch of guarded writes", () => {
    fc.assert(
      fc.property(decisions, start, (shapes, values) => {
        const given = shapes.map(decisionOf);
        const atOnce = statesOf(values);
        const { settled, changed } = decideAtOnce(given, rowsIn(atOnce));
        for (const { row, next } of changed) rowsIn(atOnce).put(row, next);

        const guarded = statesOf(values);
        const plan = planWrites(given, guarded);
        for (const { writes } of plan.groups) {
          for (const { row, next } of writes) rowsIn(guarded).put(row, next);
        }
        expect(settled).toEqual(plan.settled);
        expect(atOnce).toEqual(guarded);
      }),
      { numRuns: cases(2000) },
    );
  });

  it("write nothing if one of a list throws that is to be applied all or nothing", () => {
    const states = statesOf({ a: 1 });
    const good = decisionOf({ rows: ["a"], steps: [1], throws: false, isNaN: false });
    const bad = decisionOf({ rows: ["b"], steps: [1], throws: true, isNaN: false });
    const settled = applyAtOnce([good, bad], rowsIn(states));
    expect(() => resultsOf(settled)).toThrow("[null]");
    expect(states).toEqual(statesOf({ a: 1 }));
  });
});
