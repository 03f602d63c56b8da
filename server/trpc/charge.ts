/** What the middleware does around a procedure: takes tokens, and gives back what was not to cost. */
import { TRPCError, type TRPCMiddlewareFunction } from "@trpc/server";
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllItem, LimitAllResult, UntypedRateLimiter } from "../limiter-types.js";
import { forgetDecisions, noteDecisions, type NotedDecision } from "./decisions-of-call.js";
import { throwingTRPCErrors, toTRPCError } from "./errors.js";
import { type KeyResolver, resolveKey } from "./key.js";
import type { ChargeOnErrorOptions, RateLimitedCall, RateLimitedOptions } from "./rate-limited.js";

type Middleware = TRPCMiddlewareFunction<object, object, object, object, unknown>;
/** A procedure call, as middleware gets it. */
export type Call = Parameters<Middleware>[0];
type Options = RateLimitedOptions<object, unknown>;
type Granted = RateLimitResult | LimitAllResult;

export interface Charging {
  limiter: UntypedRateLimiter;
  resolver: KeyResolver<object, string> | undefined;
  /** One name, or several that are charged together. */
  names: string | readonly string[];
  options: Options;
}

/** Charges a call, runs its procedure, and settles what it costs. */
export async function charge(
  charging: Charging,
  { on = "call", resetOnSuccess = false }: ChargeOnErrorOptions,
  call: Call,
): ReturnType<Middleware> {
  const { limiter } = charging;
  const { items, rateLimit, noted } = await throwingTRPCErrors(async () => {
    const wanted = await itemsOf(charging, call);
    return { items: wanted, ...(await take(limiter, charging, wanted, call)) };
  });
  const result = await call.next({ ctx: { rateLimit } });
  const costs = on === "call" || (!result.ok && (on === "error" || on(result.error)));
  const gives = result.ok && resetOnSuccess ? "all" : costs ? undefined : "what was taken";
  if (gives !== undefined) {
    forgetDecisions(call.getRawInput, noted);
    // What has happened has happened, so a store that fails now must not change the answer: the
    // tokens stay taken.
    await Promise.allSettled(
      items.map(({ name, count, key, config }) =>
        gives === "all"
          ? limiter.reset(name, { key, config })
          : limiter.refund(name, { key, config, count }),
      ),
    );
  }
  return result;
}

/** Charges a call and runs its procedure in one transaction. */
export async function chargeInTransaction(charging: Charging, call: Call): ReturnType<Middleware> {
  if (call.type === "subscription") {
    throw new TRPCError({
      code: "METHOD_NOT_SUPPORTED",
      message: `Subscription "${call.path}" would outlive its transaction`,
    });
  }
  const items = await throwingTRPCErrors(() => itemsOf(charging, call));
  let failure: Awaited<ReturnType<Middleware>> | undefined;
  let noted: readonly NotedDecision[] = [];
  try {
    return await charging.limiter.transaction(async ({ tx, ...scope }) => {
      // What an earlier try decided was rolled back.
      forgetDecisions(call.getRawInput, noted);
      const taken = await take(scope, charging, items, call);
      noted = taken.noted;
      const result = await call.next({ ctx: { rateLimit: taken.rateLimit, tx } });
      if (result.ok) return result;
      // Thrown, so that the transaction is rolled back, and tried again if this was a conflict.
      failure = result;
      throw result.error;
    });
  } catch (error) {
    forgetDecisions(call.getRawInput, noted);
    if (failure?.ok === false && failure.error === error) return failure;
    throw toTRPCError(error);
  }
}

async function itemsOf(
  { resolver, names, options }: Charging,
  { ctx, input, path, type }: Call,
): Promise<LimitAllItem[]> {
  const { key, count, config, reserve } = options;
  return Promise.all(
    (typeof names === "string" ? [names] : names).map(async (name) => {
      const described = { name, ctx, input, path, type };
      return {
        name,
        key:
          key === undefined
            ? await resolveKey(resolver, ctx, name, undefined)
            : await valueOf(key, described),
        count: await valueOf(count, described),
        config: await valueOf(config, described),
        reserve: await valueOf(reserve, described),
      };
    }),
  );
}

async function valueOf<TValue>(
  option: TValue | ((call: RateLimitedCall<object, unknown>) => TValue | Promise<TValue>),
  call: RateLimitedCall<object, unknown>,
): Promise<TValue> {
  // No option is itself a function.
  return typeof option === "function" ? (option as (_: typeof call) => TValue)(call) : option;
}

async function take(
  limits: Pick<UntypedRateLimiter, "limit" | "limitAll">,
  { limiter, names }: Charging,
  items: readonly LimitAllItem[],
  { getRawInput }: Call,
): Promise<{ rateLimit: Granted; noted: readonly NotedDecision[] }> {
  let rateLimit: Granted;
  let results: readonly RateLimitResult[];
  if (typeof names === "string") {
    const { name, ...wanted } = items[0]!;
    rateLimit = await limits.limit(name, { ...wanted, throws: true });
    results = [rateLimit];
  } else {
    rateLimit = await limits.limitAll(items, { throws: true });
    results = rateLimit.results;
  }
  const now = limiter.clock();
  const noted = items.map(({ name, key, config }, i) => {
    const { value } = results[i]!;
    return { name, key, value, now, config: config ?? limiter.limits[name]! };
  });
  noteDecisions(getRawInput, noted);
  return { rateLimit, noted };
}
