/** What a denial says of the holds of its limits. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { ResolvedLimit } from "../resolve-limit.js";

/** A limit whose holds may have lapsed, and the sum of its holds at that time. */
export interface DueLimit {
  readonly limit: ResolvedLimit;
  readonly sum: RateLimitState;
}
