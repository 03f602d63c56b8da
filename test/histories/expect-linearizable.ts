/** Assertions about recorded histories. */
import { expect } from "vitest";
import { checkHistory, UndecidedError } from "./check-history.js";
import { describeContradiction } from "./contradiction.js";
import type { Operation } from "./operation.js";
import { CAPACITY } from "./recorder.js";

export function expectLinearizable(history: readonly Operation[]): void {
  const verdict = checkHistory(history, CAPACITY);
  if (!verdict.ok) expect.fail(describeContradiction(verdict.contradiction));
}

/**
 * Records histories until the search can decide one history, at most three. On a slow machine, an outage
 * can leave so many calls with an unknown outcome that the search reaches its bound.
 */
export async function expectSomeLinearizable(
  record: () => Promise<readonly Operation[]>,
): Promise<void> {
  for (let attempts = 3; ; attempts--) {
    try {
      return expectLinearizable(await record());
    } catch (error) {
      if (!(error instanceof UndecidedError) || attempts === 1) throw error;
      console.warn(`${error.message}. Recording another history.`);
    }
  }
}
