/**
 * Plans that read and write one row, each with numbers of its own, and calls by either of two plans.
 *
 * Counts are whole numbers, and a part of a token is a whole number of 1024ths. So doubles hold every
 * sum, and rows are compared to the last bit.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { heldAt } from "../../core/rows/reading.js";
import { type Bucket, capacityOf, type PeriodicConfig } from "../../core/config.js";
import type { Row } from "../../core/rows/row.js";
import { cases } from "../support/cases.js";

export const PERIOD = 1024;
/** The start of a window. */
export const T = PERIOD * 1_800_000_000;
/** 20,000 of each, and a fifth of that for every change. */
export const PROGRAMS = { numRuns: cases(20_000) };

export const anyKind = fc.constantFrom("token bucket" as const, "fixed window" as const);
export const upTo = (max: number) => fc.integer({ min: 0, max });

/** A plan of this kind. Its capacity is its rate, or more, or less. */
export const anyPlan = (kind: PeriodicConfig["kind"]): fc.Arbitrary<PeriodicConfig> =>
  fc
    .record({ rate: fc.integer({ min: 1, max: 40 }), capacity: fc.integer({ min: 1, max: 40 }) })
    .map((numbers) => {
      const plan = { kind, period: PERIOD, maxReserved: 1000, ...numbers };
      return (kind === "fixed window" ? { ...plan, start: 0 } : plan) as PeriodicConfig;
    });

/** Two plans of one limit, the smaller one first. */
export const anyPlans = anyKind.chain((kind) =>
  fc
    .tuple(anyPlan(kind), anyPlan(kind))
    .map((plans) => plans.sort((a, b) => capacityOf(a) - capacityOf(b))),
);

/** As `toBe`, in a tenth of the time. */
export function same(actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) expect(actual).toBe(expected);
}

export function atMost(actual: number, most: number): void {
  if (!(actual <= most)) expect(actual).toBeLessThanOrEqual(most);
}

export const left = (row: Row | null, plan: Bucket, now: number) => heldAt(row, plan, now).value;

const anyCall = fc.record({
  by: fc.constantFrom(0, 1),
  what: fc.constantFrom("take", "take", "give back", "give back some", "charge"),
  count: upTo(45),
  which: fc.nat(),
});
export const anyCalls = fc.array(anyCall, { minLength: 5, maxLength: 25 });
