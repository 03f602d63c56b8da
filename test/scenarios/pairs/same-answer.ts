/** Compares an answer with the model's answer, in the parts that two features do not change. */
import { expect } from "vitest";
import type { RateLimitResult } from "../../../core/decide.js";
import { type Feature, isLeased, type Pair } from "./features.js";

/** All fields that an answer can have. */
export type Answer = Partial<Omit<RateLimitResult & { ok: true }, "ok">> &
  Partial<Omit<RateLimitResult & { ok: false }, "ok">> & { ok: boolean; value: number };

export function sameAnswer(pair: Pair, answer: Answer, expected: Answer): void {
  const has = (feature: Feature) => pair.includes(feature);
  const of = ({ ok, repeated, shadow }: Answer) => [ok, repeated, shadow?.ok];
  expect(of(answer)).toEqual(of(expected));
  const waitOf = ({ retryAfter, shadow }: Answer) => retryAfter ?? shadow?.retryAfter ?? 0;
  // Which of two shards gave the tokens changes what is rounded.
  const off = Math.abs(waitOf(answer) - waitOf(expected));
  expect(off).toBeLessThanOrEqual(has("shards") ? 1 : 0);
  // What an override or a hold of the moment makes of the value of then is not compared.
  const isOfThen = answer.repeated && (has("override") || has("hold"));
  const isComparable = !isLeased(pair) && !has("shards") && !isOfThen;
  if (isComparable) expect(answer.value).toBeCloseTo(expected.value, 6);
}
