/**
 * Creates the middleware: it charges limits for a procedure call, and denies it if they are empty.
 */
import type { UntypedRateLimiter } from "../limiter/limiter-types.js";
import { type Call, charge, chargeInTransaction, type Charging } from "./run-limited.js";
import type { ConfigFor } from "./config-for-caller.js";
import type { KeyResolver } from "./key-for-caller.js";
import type {
  ChargeOnErrorOptions,
  RateLimited,
  RateLimitedOptions,
} from "./rate-limited-types.js";
import { validateRateLimited } from "./validate-rate-limited.js";

/** The middleware treats every context and input alike. Their types are in `RateLimited`. */
type Options = RateLimitedOptions<object, unknown>;

export function createRateLimited<TContext, TMeta, TName extends string, TTransaction>(
  limiter: UntypedRateLimiter,
  resolver: KeyResolver<TContext, TName> | undefined,
  configFor: ConfigFor,
  exposed: readonly TName[],
): RateLimited<TContext, TMeta, TName, TTransaction> {
  type Names = TName | readonly TName[];

  function toCharging(names: Names, options: Options, isTransaction: boolean): Charging {
    validateRateLimited(limiter.limits, names, options, isTransaction);
    const all = typeof names === "string" ? [names] : names;
    const hidden = all.filter((name) => !exposed.includes(name));
    const keyResolver = resolver as Charging["resolver"];
    return { limiter, resolver: keyResolver, configFor, names, hidden, options };
  }

  const rateLimited = (names: Names, options: Options & ChargeOnErrorOptions = {}) => {
    const charging = toCharging(names, options, false);
    return (call: Call) => charge(charging, options, call);
  };
  const transaction = (names: Names, options: Options = {}) => {
    const charging = toCharging(names, options, true);
    return (call: Call) => chargeInTransaction(charging, call);
  };
  return Object.assign(rateLimited, { transaction }) as RateLimited<
    TContext,
    TMeta,
    TName,
    TTransaction
  >;
}
