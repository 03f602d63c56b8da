/** Finds what a procedure call is charged: an item for each of its limits, and the id of the call. */
import { keyOption } from "../../core/key-option.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { countOption } from "../../core/count.js";
import type { ChargedItem, GivenItem } from "../hosts/charge-request.js";
import { checkedPlan, plansOf } from "../limiter/parts/plan-of-request.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import type { Entry } from "./charged-names.js";
import { keyOf, type KeyResolver, resolveKey } from "../live/key-for-caller.js";
import type { PlanFor } from "../live/plan-for-caller.js";
import type { RateLimitedCall, RateLimitedOptions } from "./rate-limited-types.js";
import type { MiddlewareFunction } from "./trpc-types.js";

type Middleware = MiddlewareFunction<object, object, object, object, unknown>;
/** A procedure call, as middleware receives it. */
export type Call = Parameters<Middleware>[0];

/** The limits that a procedure is charged, and how they are charged. */
export interface Charging {
  limiter: UntypedRateLimiter;
  resolver: KeyResolver<object, string>;
  planFor: PlanFor;
  /** The limits, one entry for each item of the list. */
  entries: readonly Entry[];
  /** Whether the limits were given as a list. If not, there is one limit. */
  isList: boolean;
  /** The names that clients may not know. */
  hidden: readonly string[];
  /** The name of the limit with slots, if there is such a limit. */
  slots: string | undefined;
  options: RateLimitedOptions<object, unknown, string>;
}

/** The items of a call, one for each name, in the order of the entries. */
export async function itemsOf(
  charging: Charging,
  { ctx, input, path, type }: Call,
): Promise<ChargedItem[]> {
  const { resolver, entries, options } = charging;
  const { key, count, config, reserve } = options;
  const named = entries.flatMap(({ names, isFirst }) => names.map((name) => ({ name, isFirst })));
  return Promise.all(
    named.map(async ({ name, isFirst }) => {
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
        // A limit that may pay for others does not wait.
        ...(!isFirst && { reserve: await valueOf(reserve, described) }),
      };
    }),
  );
}

/** The items as the limiter is asked, one for each entry. */
export function givenItems(
  entries: readonly Entry[],
  items: readonly ChargedItem[],
): readonly GivenItem[] {
  return perEntry(entries, items).map(({ isFirst, split, items: own }) => {
    if (!isFirst) return own[0]!;
    const first = own.map((item) => payerOf(item, split));
    return { first, ...(split && { split, ...countOption(own[0]!) }) };
  });
}

/** The entries, each with its items. */
export function perEntry(entries: readonly Entry[], items: readonly ChargedItem[]) {
  let at = 0;
  return entries.map((entry) => {
    const own = items.slice(at, (at += entry.names.length));
    return { ...entry, items: own };
  });
}

/** An item of limits that pay for a call. Limits that pay together share the count of the call. */
export function payerOf({ name, key, plan, config, ...item }: ChargedItem, split: boolean) {
  return { name, ...keyOption(key), plan, config, ...(!split && countOption(item)) };
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
  { entries, options }: Pick<Charging, "entries" | "options">,
  call: Call,
): Promise<string | undefined> {
  const { once, hold } = options;
  const { ctx, input, path, type } = call;
  const [name] = entries[0]!.names as [string];
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
