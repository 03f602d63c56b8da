/** Several calls as one decision: all of them take their tokens, or none does. */
import { firstWhole, type RateLimitState } from "../core/calculate.js";
import type { RateLimitResult } from "../core/decide.js";
import type { Decision, RowId } from "./store/store.js";
import { type Environment, type LimitRequest, pickRows, takeOne } from "./take.js";

export interface AllDecided {
  /** One per request. When one is denied, what each would get in its turn. */
  results: RateLimitResult[];
  /** By index of the request: whether it changed a row. */
  changed: readonly boolean[];
  ok: boolean;
  /** The wait for all of them; 0 when they passed without reservations. */
  retryAfter: number;
  now: number;
}

/** Takes the tokens of every request, or none at all. Requests to shadows deny nothing. */
export function takeAll(
  requests: readonly LimitRequest[],
  { clock, random }: Environment,
): Decision<AllDecided> {
  const steps = requests.map((request) => ({ request, rows: pickRows(request.limit, random) }));
  // Two requests can be for the same row. The second one then sees what the first one left.
  const slots = slotsOf(steps.flatMap((step) => step.rows));

  return {
    rows: slots.rows,
    decide(states) {
      const now = clock();
      const attempt = (from: readonly (RateLimitState | null)[], at: number) => {
        const current = [...from];
        /** The rows as they were, but for those that a denial closes. */
        const closed = [...from];
        const changed = steps.map(() => false);
        const results = steps.map(({ request, rows }, step) => {
          const indexes = rows.map(slots.indexOf);
          const seen = indexes.map((i) => current[i] ?? null);
          const { result, next } = takeOne(request, rows, seen, at);
          if (result.ok && request.count === 0) return result;
          for (const [i, state] of next.entries()) {
            if (state === undefined) continue;
            changed[step] = true;
            current[indexes[i]!] = state;
            if (!result.ok) closed[indexes[i]!] = state;
          }
          return result;
        });
        const ok = results.every((result, i) => result.ok || isShadow(steps[i]!.request));
        return { results, current, closed, changed, ok };
      };
      const writesOf = (next: readonly (RateLimitState | null)[]) => {
        return next.map((state, i) => (state === states[i] ? undefined : state));
      };
      const { results, current, closed, changed, ok } = attempt(states, now);
      const waits = results.filter((_, i) => !isShadow(steps[i]!.request));
      const longest = Math.max(0, ...waits.map(({ retryAfter = 0 }) => retryAfter));
      if (ok) {
        const result = { results, changed, ok, retryAfter: longest, now };
        return { result, writes: writesOf(current) };
      }
      // On separate rows, all pass after the longest wait. On shared rows, that is a first guess.
      const retryAfter = firstWhole(longest, (ms) => attempt(closed, now + ms).ok);
      const isClosing = results.map((denied, i) => !denied.ok && changed[i]!);
      const result = { results, changed: isClosing, ok, retryAfter, now };
      return { result, writes: isClosing.includes(true) ? writesOf(closed) : undefined };
    },
  };
}

function isShadow({ limit }: LimitRequest): boolean {
  return limit.config.shadow === true;
}

/** The distinct rows among these, and the index of each of them. */
function slotsOf(all: readonly RowId[]) {
  const rows: RowId[] = [];
  const indexes = new Map<RowId, number>();
  for (const row of all) {
    const same = rows.findIndex(
      ({ name, key, shard }) => name === row.name && key === row.key && shard === row.shard,
    );
    indexes.set(row, same === -1 ? rows.push(row) - 1 : same);
  }
  return { rows, indexOf: (row: RowId) => indexes.get(row)! };
}
