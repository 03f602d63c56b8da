/** A call's request to one limit, checked. */
import { countOf, validateSatisfiable } from "../../../core/count.js";
import { isCredits } from "../../../core/rows/credits.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import type { KeyOptions } from "../types/call.js";
import type { LimitOptions } from "../types/limit.js";
import type { ResolvedLimit } from "./resolved-limit.js";

export interface LimitRequest {
  limit: ResolvedLimit;
  count: number;
  reserve: boolean;
  /** The longest that a reservation may have to wait, ms; a longer wait is a denial. */
  maxWait: number | undefined;
  /** The `context` of the call, where somebody hears of its decision. */
  context?: unknown;
}

interface Resolving {
  resolve(name: string, options: KeyOptions): ResolvedLimit;
  /** `heard` is `undefined` while nobody hears of decisions. */
  readonly decisions: { readonly heard: unknown };
}

/** @throws RateLimitInputError for a name, a key or a count that is not valid. */
export function requestOf(
  { resolve, decisions }: Resolving,
  name: string,
  options: LimitOptions,
  maxWait?: number,
): LimitRequest {
  const { reserve = false } = options;
  const count = countOf(options);
  const limit = resolve(name, options);
  if (reserve && isCredits(limit.config)) throw unreservable(name);
  // An override of all calls answers any count.
  if (count > limit.most && limit.answer === undefined) {
    validateSatisfiable(name, limit.config, count, reserve);
  }
  if (decisions.heard === undefined || options.context === undefined) {
    return { limit, count, reserve, maxWait };
  }
  return { limit, count, reserve, maxWait, context: options.context };
}

function unreservable(name: string): RateLimitConfigError {
  const message =
    `reserve does not go with the credits of "${name}", got true: no tokens are still to come; ` +
    "use limit() without reserve, also in place of acquire()";
  return new RateLimitConfigError("reserve", true, { message });
}
