/**
 * Remembers what was decided for a procedure call until its response gets its headers. Middleware
 * and `responseMeta` see different contexts, as each middleware may add to its own; the function
 * that reads the call's raw input is the one thing that both are handed.
 */
import type { RateLimitConfig } from "../../core/config.js";

/** A granted charge. `value` is the tokens left at `now`, epoch ms; `config` as it was given. */
export interface NotedDecision {
  name: string;
  key?: string | undefined;
  value: number;
  now: number;
  config: RateLimitConfig;
}

const decisions = new WeakMap<() => Promise<unknown>, readonly NotedDecision[]>();

/** @param before those that stand beside them: all that the call has, unless some were undone. */
export function noteDecisions(
  getRawInput: () => Promise<unknown>,
  noted: readonly NotedDecision[],
  before: readonly NotedDecision[] = decisionsOf(getRawInput),
): void {
  decisions.set(getRawInput, [...before, ...noted]);
}

export function decisionsOf(getRawInput: () => Promise<unknown>): readonly NotedDecision[] {
  return decisions.get(getRawInput) ?? [];
}
