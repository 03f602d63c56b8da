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

export function noteDecisions(
  getRawInput: () => Promise<unknown>,
  noted: readonly NotedDecision[],
): void {
  decisions.set(getRawInput, [...decisionsOf(getRawInput), ...noted]);
}

/** For those that were undone; what other middleware has noted meanwhile stays. */
export function forgetDecisions(
  getRawInput: () => Promise<unknown>,
  undone: readonly NotedDecision[],
): void {
  const others = decisionsOf(getRawInput).filter((noted) => !undone.includes(noted));
  decisions.set(getRawInput, others);
}

export function decisionsOf(getRawInput: () => Promise<unknown>): readonly NotedDecision[] {
  return decisions.get(getRawInput) ?? [];
}
