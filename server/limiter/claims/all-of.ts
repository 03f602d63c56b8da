/** Several claims as one: all of them get their tokens, or none does. */
import { shortestWait } from "../../../core/calculate.js";
import type { Claim, Draft } from "./draft.js";

/** The answer of one of the claims. */
interface Answer {
  ok: boolean;
  /** Whole ms; absent or 0 for a grant without a reservation. */
  retryAfter?: number;
}

export interface AllOfAnswer<TAnswer extends Answer> {
  ok: boolean;
  /** One result per claim. When a claim is denied: the results that all claims would get in their turn. */
  results: readonly TAnswer[];
  /** By index of the claim: whether it changed a row. */
  changed: readonly boolean[];
  /** The wait until all claims pass; 0 when they passed without reservations. */
  retryAfter: number;
}

export function allOf<TAnswer extends Answer>(
  claims: readonly Claim<TAnswer>[],
): Claim<AllOfAnswer<TAnswer>> {
  /** Two claims can be for the same row. The second claim then sees the row as the first claim left it. */
  const inTurn = (draft: Draft, now: number) => {
    const fork = draft.fork();
    const turns = claims.map((claim) => {
      const own = fork.fork();
      const result = claim.attempt(own, now);
      fork.adopt(own);
      return { result, own };
    });
    return { fork, turns, ok: turns.every(({ result }, i) => result.ok || claims[i]!.isShadow) };
  };

  return {
    rows: claims.flatMap(({ rows }) => rows),
    attempt(draft, now) {
      const { fork, turns, ok } = inTurn(draft, now);
      const results = turns.map(({ result }) => result);
      const waits = results.map(({ retryAfter = 0 }, i) => (claims[i]!.isShadow ? 0 : retryAfter));
      const longest = Math.max(0, ...waits);
      if (ok) {
        draft.adopt(fork);
        return { ok, results, changed: turns.map(({ own }) => own.isWritten), retryAfter: longest };
      }
      // A denial may close its bucket. The denial is right only if the other claims would get the same
      // again, so all rows that they have read are guarded.
      draft.note(fork);
      for (const { result, own } of turns) if (!result.ok) draft.adopt(own);
      return {
        ok,
        results,
        changed: turns.map(({ result, own }) => !result.ok && own.isWritten),
        // On separate rows, all pass after the longest wait. On shared rows, the longest wait is a first
        // guess.
        retryAfter: shortestWait(longest, (ms) => inTurn(draft, now + ms).ok),
      };
    },
  };
}
