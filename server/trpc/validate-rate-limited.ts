/** Checks the arguments of `rateLimited` once, when a procedure is defined. */
import { validateCount } from "../../core/count.js";
import { describe, RateLimitConfigError } from "../../core/errors.js";
import { validateConfig } from "../../core/validate-config.js";
import { validateKey } from "../../core/validate-key.js";
import { chargedNames, namesOf, rejectUnknownOptions } from "../limiter/known-options.js";
import type { LimitConfigs } from "../limiter/call-options.js";
import type { ChargeOnErrorOptions, RateLimitedOptions } from "./rate-limited-types.js";
import { SHARED_BUCKET } from "../limiter/key-answer.js";

type Options = RateLimitedOptions<object, unknown>;

const TRANSACTION_OPTIONS = namesOf<Options>({
  key: true,
  count: true,
  config: true,
  reserve: true,
});
const OPTIONS = namesOf<Options & ChargeOnErrorOptions>({
  key: true,
  count: true,
  config: true,
  reserve: true,
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
  names: string | readonly string[],
  options: Options & ChargeOnErrorOptions,
  isTransaction: boolean,
): void {
  const all = chargedNames(names, limits);
  const given = typeof options.config === "function" ? undefined : options.config;
  const closing = all.find((name) => (given ?? limits[name])?.blockFor !== undefined);
  if (isTransaction && closing !== undefined) {
    throw rolledBack(closing);
  }
  const [known, of] = isTransaction
    ? [TRANSACTION_OPTIONS, "rateLimited.transaction()"]
    : [OPTIONS, "rateLimited()"];
  rejectUnknownOptions(options, known, of);
  const { key, count, config, reserve, on = "call", resetOnSuccess } = options;
  if (key !== undefined && key !== SHARED_BUCKET && typeof key !== "function") {
    validateKey(key as string);
  }
  if (count !== undefined && typeof count !== "function") validateCount(count);
  if (config !== undefined && typeof config !== "function") {
    validateConfig(config);
  }
  demandBoolean("reserve", typeof reserve === "function" ? undefined : reserve);
  demandBoolean("resetOnSuccess", resetOnSuccess);
  if (on !== "call" && on !== "success" && on !== "error" && typeof on !== "function") {
    throw new RateLimitConfigError(
      "on",
      on,
      '"call", "success", "error" or a function of the error',
    );
  }
}

/** A denial is thrown, which rolls the transaction back, and with it what would close the bucket. */
export function rolledBack(name: string | undefined): RateLimitConfigError {
  const message =
    `rateLimited.transaction() cannot charge ${describe(name)}: the denial that closes it ` +
    "(blockFor) would be rolled back; use rateLimited() for this limit";
  return new RateLimitConfigError("names", name, { message });
}

function demandBoolean(option: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw new RateLimitConfigError(option, value, "a boolean");
}
