/**
 * Rejects options that do not exist. In plain JavaScript a misspelt option would be ignored, and
 * a misspelt `key` would charge the bucket that all callers share.
 */
import { describe, RateLimitConfigError } from "../../../core/errors.js";
import type {
  AcquireOptions,
  ChargeOptions,
  KeyOptions,
  LimitAllItem,
  LimitAllOptions,
  LimitConfigs,
  LimitOptions,
  ObserveOptions,
  PlanOptions,
  RefundOptions,
} from "./call-options.js";
import type { CreditOptions, LimitFirstItem, LimitFirstOptions } from "./limit-first-options.js";
import type { ListOptions } from "./limiter-types.js";

/** The names of the options of `TOptions`. The compiler checks that the list is complete. */
export function namesOf<TOptions>(
  options: Record<keyof Required<TOptions>, true>,
): ReadonlySet<string> {
  return new Set(Object.keys(options));
}

/**
 * On the path of every call, so it makes no list of the options.
 *
 * @param of what the options are for, such as `limit()`.
 * @throws RateLimitConfigError quoting the option.
 */
export function rejectUnknownOptions(
  options: object,
  known: ReadonlySet<string>,
  of: string,
): void {
  if (typeof options !== "object" || options === null) {
    throw new RateLimitConfigError(`the options of ${of}`, options, "an object");
  }
  for (const option in options) {
    if (known.has(option) || !Object.hasOwn(options, option)) continue;
    const value = (options as Record<string, unknown>)[option];
    throw new RateLimitConfigError(option, value, {
      message:
        `${option} is not an option of ${of}, got ${describe(value)}; ` +
        `use ${[...known].join(", ")}`,
    });
  }
}

export const LIMIT_OPTIONS = namesOf<LimitOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  reserve: true,
  throws: true,
  once: true,
  hold: true,
});
export const ITEM_OPTIONS = namesOf<LimitAllItem & PlanOptions>({
  name: true,
  key: true,
  plan: true,
  config: true,
  count: true,
  reserve: true,
});
export const LIMIT_ALL_OPTIONS = namesOf<LimitAllOptions>({
  throws: true,
  once: true,
  hold: true,
});
export const REFUND_OPTIONS = namesOf<RefundOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  result: true,
});
export const CHARGE_OPTIONS = namesOf<ChargeOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  once: true,
});
export const OBSERVE_OPTIONS = namesOf<ObserveOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  remaining: true,
  retryAfter: true,
  resetAt: true,
});
export const KEY_OPTIONS = namesOf<KeyOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
});
export const LIST_OPTIONS = namesOf<ListOptions>({
  plan: true,
  config: true,
  after: true,
  count: true,
  denied: true,
});
export const CREDIT_OPTIONS = namesOf<CreditOptions>({ key: true, count: true, once: true });
export const FIRST_ITEM_OPTIONS = namesOf<LimitFirstItem & PlanOptions>({
  name: true,
  key: true,
  plan: true,
  config: true,
  count: true,
});
export const FIRST_OPTIONS = namesOf<LimitFirstOptions & PlanOptions>({
  key: true,
  plan: true,
  count: true,
  split: true,
  throws: true,
  once: true,
  hold: true,
});
export const ACQUIRE_OPTIONS = namesOf<AcquireOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  maxWait: true,
  signal: true,
  once: true,
  hold: true,
});

/**
 * The names that middleware charges, as a list.
 *
 * @param limits of the limiter; `undefined` where it is only known later.
 * @throws RateLimitConfigError for no name, for one twice, and for one that the limiter lacks.
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
 * The name among these that has slots, if there is one.
 *
 * @throws RateLimitConfigError for several: two calls could wait for each other's slot.
 */
export function slotsAmong(names: readonly string[], limits: LimitConfigs): string | undefined {
  const [slots, other] = names.filter((name) => limits[name]?.kind === "concurrency");
  if (other === undefined) return slots;
  const message = `a call holds a slot of one limit, got "${slots}" and "${other}"; leave one of them out`;
  throw new RateLimitConfigError("names", names, { message });
}
