/**
 * Rows that an override has fixed: they are not in the store, hold what the override says, and are
 * never written. So every operation of a limiter works on them as on others, without a round trip.
 */
import type { RateLimitState } from "../../../core/calculate.js";
import type { Executor } from "../executor.js";
import type { Decision, Outcome, RowId } from "../../store/store.js";

export interface FixedRow extends RowId {
  /** What it holds; `null` for a full bucket. */
  readonly held: RateLimitState | null;
}

function isFixed(row: RowId): row is FixedRow {
  return row.shard < 0;
}

/** Executes decisions on fixed rows here, and all others on the store. */
export function withFixedRows(executor: Executor): Executor {
  return {
    async apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]> {
      if (!decisions.some(hasFixed)) return executor.apply(decisions);
      const asked = decisions.filter((decision) => !isAllFixed(decision)).map(onOthers);
      const answers = asked.length === 0 ? [] : await executor.apply(asked);
      return decisions.map((each) => (isAllFixed(each) ? decideHere(each) : answers.shift()!));
    },
    submit(decision, done, failed) {
      if (!hasFixed(decision)) return executor.submit(decision, done, failed);
      if (!isAllFixed(decision)) return executor.submit(onOthers(decision), done, failed);
      let result;
      try {
        result = decideHere(decision);
      } catch (error) {
        return failed(error);
      }
      done(result);
    },
  };
}

function hasFixed({ rows }: Decision<unknown>): boolean {
  return rows.some(isFixed);
}

function isAllFixed({ rows }: Decision<unknown>): boolean {
  return rows.length > 0 && rows.every(isFixed);
}

function decideHere<TResult>(decision: Decision<TResult>): TResult {
  return decision.decide(decision.rows.map((row) => (row as FixedRow).held)).result;
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
      const all = rows.map((row) => (isFixed(row) ? row.held : (states[index++] ?? null)));
      const { result, writes } = decision.decide(all);
      return { result, writes: writes?.filter((_, i) => !isFixed(rows[i]!)) };
    },
  };
}
