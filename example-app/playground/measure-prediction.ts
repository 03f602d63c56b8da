/** Compares what the page predicts with what the server said: the tokens left after each grant. */
import type { KnownState } from "./predicted-line.js";

/** The tokens that a grant left. */
export interface Comparison {
  predicted: number;
  said: number;
}

export interface Measured {
  /** The grants that were compared. */
  grants: number;
  /** The grant that the server decided last; `undefined` while there is none. */
  last?: Comparison | undefined;
  /** The greatest difference, tokens. */
  most: number;
}

export const NOTHING_MEASURED: Measured = { grants: 0, most: 0 };

interface MeasuredState extends KnownState {
  count?: number | undefined;
  isPredicted?: boolean;
}

/**
 * Each grant is predicted from the state before it, for the very ms at which the server decided.
 *
 * @param states in the order in which the server wrote them. The first state is not compared itself.
 * @param after the tokens that a state leaves at `ts` to a call that takes `count`.
 */
export function comparisonsOf<TState extends MeasuredState>(
  states: readonly TState[],
  after: (state: TState, ts: number, count: number) => number,
  counts: (state: TState) => boolean = () => true,
): Comparison[] {
  return states.slice(1).flatMap((state, i) => {
    const { count, ts, value, isPredicted } = state;
    return count === undefined || isPredicted || !counts(state)
      ? []
      : [{ predicted: after(states[i]!, ts, count), said: value }];
  });
}

export function sumUp(before: Measured, comparisons: readonly Comparison[]): Measured {
  return {
    grants: before.grants + comparisons.length,
    last: comparisons.at(-1) ?? before.last,
    most: Math.max(before.most, ...comparisons.map(differenceOf)),
  };
}

export function differenceOf({ predicted, said }: Comparison): number {
  return Math.abs(predicted - said);
}
