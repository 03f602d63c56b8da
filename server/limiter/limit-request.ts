/** A call's request to one limit, checked. */
import { validateSatisfiable } from "../../core/count.js";
import type { KeyOptions, LimitOptions } from "./call-options.js";
import type { ResolvedLimit } from "./resolve-limit.js";

export interface LimitRequest {
  limit: ResolvedLimit;
  count: number;
  reserve: boolean;
  /** The longest that a reservation may have to wait, ms; a longer one is denied. */
  maxWait: number | undefined;
}

/** @throws RateLimitInputError for a name, a key or a count that is not valid. */
export function requestOf(
  { resolve }: { resolve(name: string, options: KeyOptions): ResolvedLimit },
  name: string,
  options: LimitOptions,
  maxWait?: number,
): LimitRequest {
  const { count = 1, reserve = false } = options;
  const limit = resolve(name, options);
  validateSatisfiable(name, limit.config, count, reserve);
  return { limit, count, reserve, maxWait };
}
