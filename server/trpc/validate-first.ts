/** Checks limits of which the first pays, once, when a procedure is defined. */
import type { AnyLimit } from "../../core/limit-config.js";
import { describe, RateLimitConfigError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { slotsAmong } from "../limiter/types/named-limits.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { shadowPayer } from "../limiter/types/payers.js";
import type { Entry } from "./charged-names.js";
import type { RateLimitedFirstOptions } from "./rate-limited-types.js";
import { demandBoolean, limitOf, validateCharging } from "./validate-rate-limited.js";

const FIRST_OPTIONS = namesOf<RateLimitedFirstOptions<object, unknown, string>>({
  key: true,
  count: true,
  plan: true,
  config: true,
  split: true,
  on: true,
  once: true,
  hold: true,
});

/**
 * Checks the arguments of `rateLimited.first`.
 *
 * @throws RateLimitConfigError and RateLimitInputError as `validateRateLimited`.
 */
export function validateFirst(
  limits: LimitConfigs,
  names: readonly string[],
  options: RateLimitedFirstOptions<object, unknown, string>,
): void {
  rejectUnknownOptions(options, FIRST_OPTIONS, "rateLimited.first()");
  if (!Array.isArray(names)) {
    const message = `rateLimited.first() needs a list of limits, got ${describe(names)}`;
    throw new RateLimitConfigError("names", names, { message });
  }
  const { split, ...others } = options;
  demandBoolean("split", split);
  const entry: Entry = { names, isFirst: true, split: split ?? false };
  validateCharging(limits, [entry], others, "rateLimited.first()");
  validatePayers(limits, names, "rateLimited.first()");
}

/**
 * Checks a `first` among the names of `rateLimited`.
 *
 * @throws RateLimitConfigError for a limit that cannot pay, and for options that a payer does not have.
 */
export function validateEntry(
  limits: LimitConfigs,
  { names }: Entry,
  options: { reserve?: unknown; resetOnSuccess?: unknown },
): void {
  validatePayers(limits, names, "first");
  for (const option of ["reserve", "resetOnSuccess"] as const) {
    if (options[option] !== true) continue;
    const message = `${option} does not go with a first, got true: leave one of the two out`;
    throw new RateLimitConfigError(option, true, { message });
  }
}

/**
 * @param of what names the limits, for messages.
 * @throws RateLimitConfigError for a limit with slots, and for a shadow.
 */
export function validatePayers(limits: LimitConfigs, names: readonly string[], of: string): void {
  const slots = slotsAmong(names, limits);
  if (slots !== undefined) {
    const message = `${of} cannot ask ${describe(slots)}, which has slots and no tokens; leave it out`;
    throw new RateLimitConfigError("names", slots, { message });
  }
  const shadow = names.find((name) => (limitOf(limits, name) as AnyLimit).shadow);
  if (shadow !== undefined) throw shadowPayer(of, shadow);
}
