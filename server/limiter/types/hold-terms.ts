/** How a call holds its tokens under an id. */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { HoldThen } from "../../../core/rows/hold.js";

/** How a call holds its tokens. */
export interface HoldTerms {
  /** When the hold lapses if nothing settles it, in ms from the call: whole, 1 to `onceFor`. */
  for: number;
  /**
   * The end of a hold that lapses.
   *
   * - `"keep"`: the tokens stay charged, as they were estimated. For work that costs money: a process
   *   that died may have sent its request, and the provider then bills it.
   * - `"release"`: the tokens come back. For work that costs nothing unless it was settled.
   */
  then: HoldThen;
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

/** The error of a call with `hold` on a limit without holds. */
export function unheld(name: string, value: unknown): RateLimitConfigError {
  const message = `"${name}" has no holds: add holds: true to it in the limiter's limits`;
  return new RateLimitConfigError("hold", value, { message });
}

/**
 * Checks the `hold` of middleware. Some of the limits are enough. Limits of which the first pays settle
 * together, so all of them need holds.
 *
 * @throws RateLimitConfigError for terms that are not valid, and for limits that cannot hold.
 */
export function validateHolding(
  items: readonly { readonly names: readonly string[]; readonly isFirst: boolean }[],
  hasHolds: (name: string) => boolean,
  hold: HoldTerms,
): void {
  validateTerms(hold);
  const holding = items.filter(({ names }) => names.some(hasHolds));
  if (holding.length === 0) throw unheld(items[0]!.names[0]!, hold);
  const firsts = holding.filter(({ isFirst }) => isFirst);
  const without = firsts.flatMap(({ names }) => names).find((name) => !hasHolds(name));
  if (without !== undefined) throw unheld(without, hold);
  if (firsts.length > 1) throw severalShares(firsts.length, hold);
}

/** The error of a call with several `first`s that hold: under one id, their shares could not be told apart. */
export function severalShares(firsts: number, hold: HoldTerms): RateLimitConfigError {
  const message = `hold goes with one first at most, got ${firsts}: their limits would settle one count together`;
  return new RateLimitConfigError("hold", hold, { message });
}
