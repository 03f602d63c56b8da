/**
 * Creates the middleware: it charges limits for a procedure call, and denies it if they are empty.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import type { UntypedRateLimiter } from "../limiter-types.js";
import { type Call, charge, chargeInTransaction, type Charging } from "./charge.js";
import type { KeyResolver } from "./resolve-key.js";
import type {
  ChargeOnErrorOptions,
  RateLimited,
  RateLimitedOptions,
} from "./rate-limited-types.js";

/** The middleware treats every context and input alike. Their types are in `RateLimited`. */
type Options = RateLimitedOptions<object, unknown>;

export function createRateLimited<TContext, TMeta, TName extends string, TTransaction>(
  limiter: UntypedRateLimiter,
  resolver: KeyResolver<TContext, TName> | undefined,
): RateLimited<TContext, TMeta, TName, TTransaction> {
  type Names = TName | readonly TName[];

  function toCharging(names: Names, options: Options = {}): Charging {
    if (names.length === 0) {
      const message = "rateLimited() needs the name of at least one limit";
      throw new RateLimitConfigError("names", names, { message });
    }
    return { limiter, resolver: resolver as Charging["resolver"], names, options };
  }

  const rateLimited = (names: Names, options?: Options & ChargeOnErrorOptions) => {
    const charging = toCharging(names, options);
    return (call: Call) => charge(charging, options ?? {}, call);
  };
  const transaction = (names: Names, options?: Options) => {
    const charging = toCharging(names, options);
    return (call: Call) => chargeInTransaction(charging, call);
  };
  return Object.assign(rateLimited, { transaction }) as RateLimited<
    TContext,
    TMeta,
    TName,
    TTransaction
  >;
}
