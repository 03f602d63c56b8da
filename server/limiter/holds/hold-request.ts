/** Checks the hold that a call asks for. */
import { RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import type { Marker } from "../markers.js";
import { beneathAnswer } from "../overrides/overridden-answer.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import type { HoldTerms } from "./hold-terms.js";

/** A hold that a call asks for. */
export interface HoldRequest extends HoldTerms {
  /** Tokens that the call takes. */
  readonly count: number;
}

/** @throws RateLimitConfigError for terms that are not valid, quoting the option. */
export function validateTerms(terms: HoldTerms): void {
  if (typeof terms !== "object" || terms === null) {
    throw new RateLimitConfigError(
      "hold",
      terms,
      'an object, such as { for: MINUTE, then: "keep" }',
    );
  }
  const { for: ms, then, ...others } = terms;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const message = `hold.${unknown} is not an option; use for and then`;
    throw new RateLimitConfigError(`hold.${unknown}`, undefined, { message });
  }
  if (!(Number.isSafeInteger(ms) && ms >= 1)) {
    throw new RateLimitConfigError("hold.for", ms, "a whole number of ms of at least 1");
  }
  if (then !== "keep" && then !== "release") {
    const problem =
      '"keep" or "release": what becomes of the tokens if nothing settles them in time';
    throw new RateLimitConfigError("hold.then", then, problem);
  }
}

/**
 * @throws RateLimitConfigError for terms that are not valid, quoting the option, and for a limit without
 * holds.
 * @throws RateLimitInputError for a count of 0, which leaves nothing to hold.
 */
export function validateHold(
  terms: HoldTerms,
  { name, held }: Pick<ResolvedLimit, "name" | "held">,
  marker: Marker | undefined,
  count: number,
): void {
  validateTerms(terms);
  if (held === undefined) throw unheld(name, terms);
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
 * How a call holds its tokens; `undefined` where an override answers it, which takes none. A hold that
 * is not valid is refused there, too, or it would be found when the override ends.
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

/** For a limit that has none. */
export function unheld(name: string, value: unknown): RateLimitConfigError {
  const message = `"${name}" has no holds: add holds: true to it in the limiter's limits`;
  return new RateLimitConfigError("hold", value, { message });
}
