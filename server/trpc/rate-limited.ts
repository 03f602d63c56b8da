/**
 * Creates the middleware: it charges limits for a procedure call, and denies the call if the limits are
 * empty.
 */
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { type ChargedNames, entriesOf, type Entry } from "./charged-names.js";
import type { Call, Charging } from "./items-of-call.js";
import type { KeyResolver } from "../live/key-for-caller.js";
import type { PlanFor } from "../live/plan-for-caller.js";
import type { RateLimitedFirstOptions } from "./rate-limited-types.js";
import { chargeFirst } from "./run-first.js";
import { charge, chargeInTransaction } from "./run-limited.js";
import type {
  ChargeOnErrorOptions,
  RateLimited,
  RateLimitedOptions,
} from "./rate-limited-types.js";
import { slotsAmong } from "../limiter/types/named-limits.js";
import { validateEntry, validateFirst } from "./validate-first.js";
import { validateRateLimited } from "./validate-rate-limited.js";

/** The middleware treats every context and every input alike. `RateLimited` has the types. */
type Options = RateLimitedOptions<object, unknown, string>;
type FirstOptions = RateLimitedFirstOptions<object, unknown, string>;

export function createRateLimited<
  TContext,
  TMeta,
  TName extends string,
  TTransaction,
  TPlan extends string,
>(
  limiter: UntypedRateLimiter,
  resolver: KeyResolver<TContext, TName>,
  planFor: PlanFor,
  exposed: readonly TName[],
): RateLimited<TContext, TMeta, TName, TTransaction, TPlan> {
  type Names = ChargedNames<TName>;

  function toCharging(names: Names, options: Options, isTransaction: boolean): Charging {
    const entries = entriesOf(names);
    validateRateLimited(limiter.limits, entries, options, isTransaction);
    for (const entry of entries) if (entry.isFirst) validateEntry(limiter.limits, entry, options);
    return chargingOf(entries, typeof names !== "string", options);
  }

  function chargingOf(entries: readonly Entry[], isList: boolean, options: Options): Charging {
    const all = entries.flatMap(({ names }) => names);
    const hidden = all.filter((name) => !exposed.includes(name as TName));
    const keyResolver = resolver as Charging["resolver"];
    const slots = slotsAmong(all, limiter.limits);
    return { limiter, resolver: keyResolver, planFor, entries, isList, hidden, slots, options };
  }

  const rateLimited = (names: Names, options: Options & ChargeOnErrorOptions = {}) => {
    const charging = toCharging(names, options, false);
    return (call: Call) => charge(charging, options, call);
  };
  const transaction = (names: Names, options: Options = {}) => {
    const charging = toCharging(names, options, true);
    return (call: Call) => chargeInTransaction(charging, call);
  };
  const first = (names: readonly TName[], options: FirstOptions = {}) => {
    validateFirst(limiter.limits, names, options);
    const { split = false, on: _, ...others } = options;
    const charging = chargingOf([{ names, isFirst: true, split }], true, others);
    return (call: Call) => chargeFirst(charging, options, call);
  };
  return Object.assign(rateLimited, { transaction, first }) as RateLimited<
    TContext,
    TMeta,
    TName,
    TTransaction,
    TPlan
  >;
}
