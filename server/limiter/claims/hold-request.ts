/** Checks the hold that a call asks for. */
import { RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import type { Marker } from "./markers.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import { type HoldTerms, unheld, validateTerms } from "../types/hold-terms.js";

/** A hold that a call asks for. */
export interface HoldRequest extends HoldTerms {
  /** Tokens that the call takes. */
  readonly count: number;
}

/**
 * @throws RateLimitConfigError for terms that are not valid, quoting the option, and for a limit without
 * holds.
 * @throws RateLimitInputError for a count of 0, which leaves nothing to hold.
 */
export function validateHold(
  terms: HoldTerms,
  { name, holdRows }: Pick<ResolvedLimit, "name" | "holdRows">,
  marker: Marker | undefined,
  count: number,
): void {
  validateTerms(terms);
  if (holdRows === undefined) throw unheld(name, terms);
  if (marker === undefined) {
    const message = "hold needs once: the id by which any process settles the hold";
    throw new RateLimitConfigError("hold", terms, { message });
  }
  if (terms.for > marker.onceFor) {
    const problem = `at most the onceFor of "${name}", which is ${marker.onceFor} ms`;
    throw new RateLimitConfigError("hold.for", terms.for, problem);
  }
  if (count === 0) {
    throw new RateLimitInputError(
      "count",
      "count must be above 0 with hold: estimate what is used",
    );
  }
}

/**
 * How a call holds its tokens; `undefined` where an override answers the call, which then takes no
 * tokens. A hold that is not valid is refused there, too, or the mistake would be found only when the
 * override ends.
 */
export function holdOf(
  { hold }: { hold?: HoldTerms | undefined },
  { limit, count }: { limit: ResolvedLimit; count: number },
  marker: Marker | undefined,
): HoldRequest | undefined {
  if (hold === undefined) return undefined;
  validateHold(hold, beneathAnswer(limit), marker, count);
  return limit.answer === undefined ? { ...hold, count } : undefined;
}
