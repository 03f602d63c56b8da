/**
 * Keeps the decisions of a procedure call until its response gets its headers. The decisions are stored
 * by the function that reads the call's raw input. Rejected: the context as the key, because middleware
 * may replace the context, and `responseMeta` then receives another context.
 */
import type { ShownConfig } from "../../core/config.js";

/** A charge that was granted. `value` is the tokens left at `now`, epoch ms. */
export interface NotedDecision {
  name: string;
  value: number;
  now: number;
  /** The config of the limit, with `start` filled in. */
  config: ShownConfig;
}

const decisions = new WeakMap<() => Promise<unknown>, readonly NotedDecision[]>();

export function noteDecisions(
  getRawInput: () => Promise<unknown>,
  noted: readonly NotedDecision[],
): void {
  decisions.set(getRawInput, [...decisionsOf(getRawInput), ...noted]);
}

/** Removes decisions that were undone. The decisions of other middleware stay. */
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
