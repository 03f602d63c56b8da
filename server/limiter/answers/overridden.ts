/**
 * The answer of an override, or of a plan, that exempts or blocks a caller. The rows of such a limit are
 * fixed: they are not in the store, have the state that the override or the plan says, and are never
 * written. So every operation works on fixed rows as on other rows, without a trip.
 */
import type { Decision, Outcome } from "../../store/store.js";
import { type FixedRow, isFixed } from "../limits/overrides/fixed-row.js";
import type { Apply, Ask, Asked } from "./asked.js";

export function overriddenOne(next: Ask): Ask {
  return (call) => {
    const decision = call.toDecision();
    if (!hasFixed(decision)) return next(call);
    if (isAllFixed(decision)) return answerHere(call);
    const others = onOthers(decision);
    next({
      toDecision: () => others,
      done: (result) => call.done(result),
      failed: (error) => call.failed(error),
    });
  };
}

export function overridden(next: Apply): Apply {
  return async (decisions) => {
    if (!decisions.some(hasFixed)) return next(decisions);
    const asked = decisions.filter((decision) => !isAllFixed(decision)).map(onOthers);
    const answers = asked.length === 0 ? [] : await next(asked);
    return decisions.map((each) => (isAllFixed(each) ? decideHere(each) : answers.shift()!));
  };
}

function answerHere(call: Asked): void {
  let result;
  try {
    result = decideHere(call.toDecision());
  } catch (error) {
    return call.failed(error);
  }
  call.done(result);
}

function hasFixed({ rows }: Decision<unknown>): boolean {
  return rows.some(isFixed);
}

function isAllFixed({ rows }: Decision<unknown>): boolean {
  return rows.length > 0 && rows.every(isFixed);
}

function decideHere<TResult>(decision: Decision<TResult>): TResult {
  return decision.decide(decision.rows.map((row) => (row as FixedRow).fixed)).result;
}

/** The decision without its fixed rows. */
function onOthers<TResult>(decision: Decision<TResult>): Decision<TResult> {
  const { rows, readOnly } = decision;
  if (!hasFixed(decision)) return decision;
  return {
    rows: rows.filter((row) => !isFixed(row)),
    ...(readOnly !== undefined && { readOnly }),
    decide(states): Outcome<TResult> {
      let index = 0;
      const all = rows.map((row) => (isFixed(row) ? row.fixed : (states[index++] ?? null)));
      const { result, writes } = decision.decide(all);
      return { result, writes: writes?.filter((_, i) => !isFixed(rows[i]!)) };
    },
  };
}
