/** The work of the middleware around a procedure: it takes tokens, and gives back or keeps them. */
import { TRPCError, type TRPCMiddlewareFunction } from "@trpc/server";
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllItem, LimitAllResult } from "../limiter/call-options.js";
import type { UntypedRateLimiter } from "../limiter/limiter-types.js";
import { forgetDecisions, noteDecisions, type NotedDecision } from "./decisions-of-call.js";
import { concealed, toPublicError, toTransactionError } from "./errors.js";
import type { ConfigFor } from "./config-for-caller.js";
import { keyOf, type KeyResolver, resolveKey } from "./key-for-caller.js";
import type {
  ChargeOnErrorOptions,
  RateLimitedCall,
  RateLimitedOptions,
} from "./rate-limited-types.js";
import { withSettle } from "./settle.js";
import { rolledBack } from "./validate-rate-limited.js";
import { keyOption } from "../../core/key-option.js";

type Middleware = TRPCMiddlewareFunction<object, object, object, object, unknown>;
/** A procedure call, as middleware receives it. */
export type Call = Parameters<Middleware>[0];
type Options = RateLimitedOptions<object, unknown>;
type Granted = RateLimitResult | LimitAllResult;

export interface Charging {
  limiter: UntypedRateLimiter;
  resolver: KeyResolver<object, string> | undefined;
  configFor: ConfigFor;
  /** One name, or several that are charged together. */
  names: string | readonly string[];
  /** Those of the names that clients may not know. */
  hidden: readonly string[];
  options: Options;
}

/** Charges a call, runs its procedure, and gives the tokens back if the call costs nothing. */
export async function charge(
  charging: Charging,
  { on = "call", resetOnSuccess = false }: ChargeOnErrorOptions,
  call: Call,
): ReturnType<Middleware> {
  const { limiter } = charging;
  const { items, rateLimit, results, noted } = await throwingConcealed(charging, async () => {
    const charged = await itemsOf(charging, call);
    return { items: charged, ...(await take(limiter, charging, charged, call)) };
  });
  const result = await call.next({ ctx: { rateLimit } });
  const costs = on === "call" || isCostly(on, result);
  const isReset = result.ok && resetOnSuccess;
  if (isReset || !costs) {
    forgetDecisions(call.getRawInput, noted);
    // A store that fails now must not change the answer of the procedure. The tokens stay taken.
    await Promise.allSettled(
      items.map(({ name, key, config }, i) =>
        isReset
          ? limiter.reset(name, { ...keyOption(key), config })
          : limiter.settle(results[i]!, 0),
      ),
    );
  }
  return result;
}

function isCostly(
  on: Exclude<ChargeOnErrorOptions["on"], "call" | undefined>,
  result: Awaited<ReturnType<Middleware>>,
): boolean {
  if (result.ok || on === "success") return result.ok && on === "success";
  return on === "error" || on(result.error);
}

/** Charges a call and runs its procedure in one transaction. */
export async function chargeInTransaction(charging: Charging, call: Call): ReturnType<Middleware> {
  if (call.type === "subscription") {
    throw new TRPCError({
      code: "METHOD_NOT_SUPPORTED",
      message: `Subscription "${call.path}" cannot run in a transaction, which it would outlive`,
    });
  }
  const items = await throwingConcealed(charging, async () => {
    const charged = await itemsOf(charging, call);
    const closing = charged.find(({ config }) => config?.blockFor !== undefined);
    if (closing !== undefined) throw rolledBack(closing.name);
    return charged;
  });
  let failure: Awaited<ReturnType<Middleware>> | undefined;
  let noted: readonly NotedDecision[] = [];
  try {
    return await charging.limiter.transaction(async ({ tx, ...scope }) => {
      // The charges of an earlier try were rolled back.
      forgetDecisions(call.getRawInput, noted);
      const taken = await take(scope, charging, items, call);
      noted = taken.noted;
      const result = await call.next({ ctx: { rateLimit: taken.rateLimit, tx } });
      if (result.ok) return result;
      // Throw, so that the transaction is rolled back, and retried if this was a conflict.
      failure = result;
      throw result.error;
    });
  } catch (error) {
    forgetDecisions(call.getRawInput, noted);
    if (failure?.ok === false && failure.error === error) return failure;
    throw concealed(toTransactionError(error), charging.hidden);
  }
}

/** Runs `work`. Its errors become `TRPCError`s that name no hidden limit. */
async function throwingConcealed<TResult>(
  { hidden }: Charging,
  work: () => Promise<TResult>,
): Promise<TResult> {
  try {
    return await work();
  } catch (error) {
    throw concealed(toPublicError(error), hidden);
  }
}

async function itemsOf(
  { resolver, configFor, names, options }: Charging,
  { ctx, input, path, type }: Call,
): Promise<LimitAllItem[]> {
  const { key, count, config, reserve } = options;
  return Promise.all(
    (typeof names === "string" ? [names] : names).map(async (name) => {
      const described = { name, ctx, input, path, type };
      const resolved =
        key === undefined
          ? await resolveKey(resolver, ctx, name, undefined)
          : keyOf(typeof key === "function" ? await key(described) : key, name);
      return {
        name,
        ...keyOption(resolved),
        count: await valueOf(count, described),
        config: (await valueOf(config, described)) ?? (await configFor(ctx, name, resolved)),
        reserve: await valueOf(reserve, described),
      };
    }),
  );
}

async function valueOf<TValue>(
  option: TValue | ((call: RateLimitedCall<object, unknown>) => TValue | Promise<TValue>),
  call: RateLimitedCall<object, unknown>,
): Promise<TValue> {
  // No option has a function as its value.
  return typeof option === "function" ? (option as (_: typeof call) => TValue)(call) : option;
}

async function take(
  limits: Pick<UntypedRateLimiter, "limit" | "limitAll" | "settle">,
  { limiter, names, hidden }: Charging,
  items: readonly LimitAllItem[],
  { getRawInput }: Call,
): Promise<{
  rateLimit: Granted;
  /** One per item. */
  results: readonly RateLimitResult[];
  noted: readonly NotedDecision[];
}> {
  let rateLimit: Granted;
  let results: readonly RateLimitResult[];
  if (typeof names === "string") {
    const { name, ...options } = items[0]!;
    rateLimit = await limits.limit(name, { ...options, throws: true });
    results = [rateLimit];
  } else {
    rateLimit = await limits.limitAll(items, { throws: true });
    results = rateLimit.results;
  }
  const now = limiter.clock();
  const decided = items.map(({ name, key, config }, i) => {
    const { value } = results[i]!;
    return { name, value, now, config: limiter.configOf(name, { ...keyOption(key), config }) };
  });
  // After a failure of the store, the tokens left are not known.
  const noted = decided.filter(({ name }, i) => {
    const result = results[i]!;
    return !hidden.includes(name) && !(result.ok && result.storeFailed);
  });
  noteDecisions(getRawInput, noted);
  withSettle(limits, rateLimit, names, limits !== limiter);
  return { rateLimit, results, noted };
}
