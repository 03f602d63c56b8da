/** The limits that middleware names. */
import { RateLimitConfigError, describe } from "../../../core/errors.js";
import type { LimitConfigs } from "./names.js";

/**
 * The names that middleware charges, as a list.
 *
 * @param limits of the limiter; `undefined` where the limiter is only known later.
 * @throws RateLimitConfigError for no name, for a name twice, and for a name that the limiter lacks.
 */
export function chargedNames(
  names: string | readonly string[],
  limits: object | undefined,
): readonly string[] {
  const all = typeof names === "string" ? [names] : names;
  if (!Array.isArray(all) || all.length === 0) {
    const message = "rateLimited() needs the name of at least one limit";
    throw new RateLimitConfigError("names", names, { message });
  }
  for (const name of all as readonly string[]) {
    if (limits !== undefined) requireLimit(limits, name, "names");
  }
  if (new Set(all).size < all.length) {
    const message = "rateLimited() charges each limit once";
    throw new RateLimitConfigError("names", names, { message });
  }
  return all;
}

/** @throws RateLimitConfigError for a name that is none of the limits. */
export function requireLimit(limits: object, name: string, option: string): void {
  if (Object.hasOwn(limits, name)) return;
  const message = `the limiter has no limit ${describe(name)}; add it to its limits`;
  throw new RateLimitConfigError(option, name, { message });
}

/**
 * The name, among these, of a limit with slots, if there is such a name.
 *
 * @throws RateLimitConfigError for several: two calls could wait for each other's slot.
 */
export function slotsAmong(names: readonly string[], limits: LimitConfigs): string | undefined {
  const [slots, other] = names.filter((name) => limits[name]?.kind === "concurrency");
  if (other === undefined) return slots;
  const message = `a call holds a slot of one limit, got "${slots}" and "${other}"; leave one of them out`;
  throw new RateLimitConfigError("names", names, { message });
}
