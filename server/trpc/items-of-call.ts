/** Finds what a procedure call is charged: an item for each of its limits, and the id of the call. */
import { keyOption } from "../../core/key-option.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { ChargedItem } from "../hosts/charge-request.js";
import { checkedPlan, plansOf } from "../limiter/parts/plan-of-request.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { keyOf, type KeyResolver, resolveKey } from "./key-for-caller.js";
import type { PlanFor } from "./plan-for-caller.js";
import type { RateLimitedCall, RateLimitedOptions } from "./rate-limited-types.js";
import type { MiddlewareFunction } from "./trpc-types.js";

type Middleware = MiddlewareFunction<object, object, object, object, unknown>;
/** A procedure call, as middleware receives it. */
export type Call = Parameters<Middleware>[0];

/** The limits that a procedure is charged, and how. */
export interface Charging {
  limiter: UntypedRateLimiter;
  resolver: KeyResolver<object, string>;
  planFor: PlanFor;
  /** One name, or several names that are charged together. */
  names: string | readonly string[];
  /** The names that clients may not know. */
  hidden: readonly string[];
  /** The name of the limit with slots, if there is such a limit. */
  slots: string | undefined;
  options: RateLimitedOptions<object, unknown, string>;
}

export async function itemsOf(
  charging: Charging,
  { ctx, input, path, type }: Call,
): Promise<ChargedItem[]> {
  const { resolver, names, options } = charging;
  const { key, count, config, reserve } = options;
  return Promise.all(
    (typeof names === "string" ? [names] : names).map(async (name) => {
      const described = { name, ctx, input, path, type };
      const resolved =
        key === undefined
          ? await resolveKey(resolver, ctx, name, undefined)
          : keyOf(typeof key === "function" ? await key(described) : key, name);
      // For a limit of slots, this is a config of slots. The config goes only to the operations of slots,
      // which check its kind.
      const own = (await valueOf(config, described)) as RateLimitConfig | undefined;
      return {
        name,
        ...keyOption(resolved),
        ...("count" in options && { count: await valueOf(count!, described) }),
        config: own,
        ...(own === undefined && (await planOption(charging, described, resolved))),
        reserve: await valueOf(reserve, described),
      };
    }),
  );
}

/** The plan of a call as an option; no option for a limit without plans. */
async function planOption(
  { limiter, planFor, options: { plan: own } }: Charging,
  call: RateLimitedCall<object, unknown>,
  key: string | undefined,
): Promise<{ plan?: string }> {
  const { name } = call;
  const plans = plansOf(limiter.limits, name);
  if (plans === undefined) return {};
  const plan =
    own === undefined
      ? await planFor(call.ctx, name, key)
      : checkedPlan(await valueOf(own, call), plans, { name, by: "the option plan" });
  return plan === undefined ? {} : { plan };
}

/** The id of a call. A hold gets a random id where the application gives none. */
export async function onceOf(
  { names, options }: Pick<Charging, "names" | "options">,
  call: Call,
): Promise<string | undefined> {
  const { once, hold } = options;
  const { ctx, input, path, type } = call;
  const name = typeof names === "string" ? names : names[0]!;
  const own = await once?.({ name, ctx, input, path, type });
  return own ?? (hold && crypto.randomUUID());
}

async function valueOf<TValue>(
  option: TValue | ((call: RateLimitedCall<object, unknown>) => TValue | Promise<TValue>),
  call: RateLimitedCall<object, unknown>,
): Promise<TValue> {
  // A function is never the value itself, but always returns the value.
  return typeof option === "function" ? (option as (_: typeof call) => TValue)(call) : option;
}
