/** The error of a denied call, about one limit or several. */
import type { RateLimitResult } from "../core/decide.js";
import { type RateLimitDenial, RateLimitError } from "../core/errors.js";
import type { LimitRequest } from "./take.js";

export function denial(
  { limit: { name, config } }: LimitRequest,
  { retryAfter = 0, value }: RateLimitResult,
  now: number,
  denials?: readonly RateLimitDenial[],
): RateLimitError {
  const data = { kind: "RateLimited", name, retryAfter, value, config, now } as const;
  return new RateLimitError(denials ? { ...data, denials } : data);
}

/** The requests that were denied, by name. Of several for one name, the one with the longest wait. */
export function denialsOf(
  requests: readonly LimitRequest[],
  results: readonly RateLimitResult[],
): readonly RateLimitDenial[] {
  const denials = new Map<string, RateLimitDenial>();
  for (const [i, { ok, retryAfter = 0, value }] of results.entries()) {
    const { name, config } = requests[i]!.limit;
    if (ok || (denials.get(name)?.retryAfter ?? 0) >= retryAfter) continue;
    denials.set(name, { name, retryAfter, value, config });
  }
  return [...denials.values()];
}

/** The index of the denied result with the longest wait. */
export function slowestOf(results: readonly RateLimitResult[]): number {
  const waits = results.map(({ ok, retryAfter = 0 }) => (ok ? -1 : retryAfter));
  return waits.indexOf(Math.max(...waits));
}
