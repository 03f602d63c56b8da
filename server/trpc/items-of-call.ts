/** What a procedure call is charged: an item for each of its limits, and the id of the call. */
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

/** What a procedure is charged, and how. */
export interface Charging {
  limiter: UntypedRateLimiter;
  resolver: KeyResolver<object, string> | undefined;
  planFor: PlanFor;
  /** One name, or several that are charged together. */
  names: string | readonly string[];
  /** Those of the names that clients may not know. */
  hidden: readonly string[];
  /** The one of the names that has slots. */
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
      // Of slots, it goes to their operations alone, which check its kind.
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

/** The plan of a call as an option; none for a limit without plans. */
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

/** The id of a call. A hold has one of its own where the application gives none. */
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
  // No option has a function as its value.
  return typeof option === "function" ? (option as (_: typeof call) => TValue)(call) : option;
}
