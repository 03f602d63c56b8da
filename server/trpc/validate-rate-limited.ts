/** Checks the arguments of `rateLimited` once, when a procedure is defined. */
import type { AnyLimit } from "../../core/limit-config.js";
import { countOf } from "../../core/count.js";
import { describe, RateLimitConfigError } from "../../core/errors.js";
import { validateConfig } from "../../core/validate-config.js";
import { validateKey } from "../../core/validate-key.js";
import { validatePlan } from "../limiter/parts/plan-of-request.js";
import { chargedNames, slotsAmong } from "../limiter/types/named-limits.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { Entry } from "./charged-names.js";
import type { ChargeOnErrorOptions, RateLimitedOptions } from "./rate-limited-types.js";
import { validateHolding } from "../limiter/types/hold-terms.js";
import { SHARED_BUCKET } from "../limiter/types/key-answer.js";

type Options = RateLimitedOptions<object, unknown, string>;

const TRANSACTION_OPTIONS = namesOf<Options>({
  key: true,
  count: true,
  plan: true,
  config: true,
  reserve: true,
  maxWait: true,
  holder: true,
  once: true,
  hold: true,
});
const OPTIONS = namesOf<Options & ChargeOnErrorOptions>({
  key: true,
  count: true,
  plan: true,
  config: true,
  reserve: true,
  maxWait: true,
  holder: true,
  once: true,
  hold: true,
  on: true,
  resetOnSuccess: true,
});

/**
 * @throws RateLimitConfigError for a name that the limiter does not have, and for an option that
 * does not exist or has a value that cannot work.
 * @throws RateLimitInputError for a `key` or a `count` that is not valid.
 */
export function validateRateLimited(
  limits: LimitConfigs,
  entries: readonly Entry[],
  options: Options & ChargeOnErrorOptions,
  isTransaction: boolean,
): void {
  const all = chargedNames(namesIn(entries), limits);
  validateSlotOptions(slotsAmong(all, limits), all, options, isTransaction);
  const given: AnyLimit | undefined =
    typeof options.config === "function" ? undefined : options.config;
  const closing = all.find((name) => (given ?? limitOf(limits, name))?.blockFor !== undefined);
  if (isTransaction && closing !== undefined) {
    throw rolledBack(closing);
  }
  const [known, of] = isTransaction
    ? [TRANSACTION_OPTIONS, "rateLimited.transaction()"]
    : [OPTIONS, "rateLimited()"];
  rejectUnknownOptions(options, known, of);
  validateCharging(limits, entries, options, of);
}

/**
 * Checks what the middleware and `rateLimited.first` have in common.
 *
 * @param of the function that has the options, for messages.
 */
export function validateCharging(
  limits: LimitConfigs,
  entries: readonly Entry[],
  options: Options & ChargeOnErrorOptions,
  of: string,
): void {
  const all = chargedNames(namesIn(entries), limits);
  const { key, count, config, reserve, on = "call", resetOnSuccess } = options;
  if (key !== undefined && key !== SHARED_BUCKET && typeof key !== "function") {
    validateKey(key as string);
  }
  if (typeof count !== "function") countOf(options as { count?: number });
  if (config !== undefined && typeof config !== "function") {
    validateConfig(config);
  }
  validatePlanOption(limits, all, options, of);
  validateOnce(limits, all, options);
  if (options.hold !== undefined) {
    validateHolding(entries, (name) => limitOf(limits, name)?.holds === true, options.hold);
  }
  demandBoolean("reserve", typeof reserve === "function" ? undefined : reserve);
  demandBoolean("resetOnSuccess", resetOnSuccess);
  demandRefilling(limits, all, "reserve", reserve);
  demandRefilling(limits, all, "resetOnSuccess", resetOnSuccess);
  if (on !== "call" && on !== "success" && on !== "error" && typeof on !== "function") {
    throw new RateLimitConfigError(
      "on",
      on,
      '"call", "success", "error" or a function of the error',
    );
  }
}

function namesIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(({ names }) => names);
}

function validatePlanOption(
  limits: LimitConfigs,
  names: readonly string[],
  { plan, config }: Pick<Options, "plan" | "config">,
  of: string,
): void {
  if (plan === undefined) return;
  if (config !== undefined) {
    const message =
      `a procedure has a plan or a config, got both, and plan ${describe(plan)}; ` +
      "a config is for what is no plan: leave one of the two out";
    throw new RateLimitConfigError("plan", plan, { message });
  }
  validatePlan(of, { limits }, names, plan);
}

/** Checks options that slots do not have, and options that only slots have. */
function validateSlotOptions(
  slots: string | undefined,
  all: readonly string[],
  { maxWait, holder, ...options }: Options & ChargeOnErrorOptions,
  isTransaction: boolean,
): void {
  if (maxWait !== undefined && slots === undefined) {
    const message = `maxWait is for limits of kind "concurrency", got ${describe(maxWait)}; leave it out`;
    throw new RateLimitConfigError("maxWait", maxWait, { message });
  }
  if (holder !== undefined && slots === undefined) {
    const message = `holder is for limits of kind "concurrency", got ${describe(holder)}; leave it out`;
    throw new RateLimitConfigError("holder", holder, { message });
  }
  if (holder !== undefined && typeof holder !== "function") {
    throw new RateLimitConfigError("holder", holder, "a function of the call");
  }
  if (maxWait !== undefined && !(maxWait >= 0)) {
    throw new RateLimitConfigError("maxWait", maxWait, "a number of ms of at least 0");
  }
  if (slots === undefined) return;
  if (isTransaction) {
    const message =
      `rateLimited.transaction() cannot hold a slot of ${describe(slots)}, which is held and released ` +
      "outside of the transaction; use rateLimited() for this limit, before the transaction";
    throw new RateLimitConfigError("names", slots, { message });
  }
  if (options.hold !== undefined) {
    const message = `hold is for limits of tokens, and ${describe(slots)} has slots; leave it out`;
    throw new RateLimitConfigError("hold", options.hold, { message });
  }
  if (options.once !== undefined) {
    const message = `once is for limits of tokens, and ${describe(slots)} has slots; leave it out`;
    throw new RateLimitConfigError("once", options.once, { message });
  }
  if (all.length > 1) return;
  for (const option of ["count", "reserve", "on", "resetOnSuccess"] as const) {
    if (options[option] === undefined) continue;
    const message =
      `${option} is for limits of tokens, and ${describe(slots)} has slots; leave it out, or charge ` +
      "a limit of tokens with it";
    throw new RateLimitConfigError(option, options[option], { message });
  }
}

export function limitOf(limits: LimitConfigs, name: string): AnyLimit | undefined {
  return limits[name];
}

function demandRefilling(
  limits: LimitConfigs,
  names: readonly string[],
  option: string,
  value: unknown,
): void {
  if (value !== true) return;
  const name = names.find((each) => limits[each]?.kind === "credits");
  if (name === undefined) return;
  const message =
    `${option} does not go with the credits ${describe(name)}, got true: ` +
    (option === "reserve" ? "no tokens are still to come" : "it would delete what was bought");
  throw new RateLimitConfigError(option, value, { message });
}

/** Checks that `once` is a function: with one id for all calls, only one call would be charged. */
function validateOnce(
  limits: LimitConfigs,
  names: readonly string[],
  { once }: Pick<Options, "once">,
): void {
  if (once === undefined) return;
  if (typeof once !== "function") {
    throw new RateLimitConfigError("once", once, "a function, such as ({ input }) => input.nonce");
  }
  const sharded = names.find((name) => (limitOf(limits, name)?.shards ?? 1) > 1);
  if (sharded === undefined) return;
  const message = `once does not go with shards, and ${describe(sharded)} has them: leave one of the two out`;
  throw new RateLimitConfigError("once", once, { message });
}

/**
 * The error for a limit with `blockFor` in a transaction. A denial is thrown and rolls the transaction
 * back, so the denial could not close the bucket.
 */
export function rolledBack(name: string | undefined): RateLimitConfigError {
  const message =
    `rateLimited.transaction() cannot charge ${describe(name)}: the denial that closes it ` +
    "(blockFor) would be rolled back; use rateLimited() for this limit";
  return new RateLimitConfigError("names", name, { message });
}

export function demandBoolean(option: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw new RateLimitConfigError(option, value, "a boolean");
}
