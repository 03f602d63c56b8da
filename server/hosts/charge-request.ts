/**
 * Charges a request of any host. Once the request is answered, gives back the tokens that it does not
 * cost.
 */
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { RateLimitResult } from "../../core/decide.js";
import { countOption } from "../../core/count.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { keyOption } from "../../core/key-option.js";
import type { ContextOption, HoldingOptions, PlanOptions } from "../limiter/types/call.js";
import type {
  ItemResult,
  LimitAllFirst,
  LimitAllItem,
  LimitAllResult,
} from "../limiter/types/limit-all.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { RateLimiter } from "../limiter/types/limiter.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";

/** The requests that cost tokens. `TFailure` is the framework's object for a request that failed. */
export type ChargedOn<TFailure> = "call" | "success" | "error" | ((failure: TFailure) => boolean);

/** The requests that do not get their tokens back. */
interface Policy<TFailure> {
  on: ChargedOn<TFailure>;
  resetOnSuccess: boolean;
}

/** One limit of a request. */
export interface RequestItem<TFailure> extends Policy<TFailure> {
  name: string;
  /** `undefined` for the bucket that all callers share. */
  key: string | undefined;
  count?: number;
  /** The plan, for a limit with plans. */
  plan?: string | undefined;
  config?: RateLimitConfig | undefined;
}

/** One limit of a request, as the limiter is asked. */
export type ChargedItem = LimitAllItem & PlanOptions;

/** One limit of a request, or several limits of which the first pays. */
export type GivenItem = ChargedItem | (LimitAllFirst & PlanOptions);

/** The tokens that a request has taken. */
export interface Taken<TResult extends ItemResult = ItemResult> {
  /** One result per item. */
  results: readonly TResult[];
  /** The answer of the limiter. */
  granted: RateLimitResult | LimitAllResult<TResult[]>;
}

/** A request that was let through. */
export interface ChargedRequest<TFailure> extends Taken<RateLimitResult> {
  items: readonly RequestItem<TFailure>[];
}

type AnyFunction = (...args: never) => unknown;

/**
 * The part of a limiter that charges requests. The methods are loosely typed: their types differ by the
 * store, and by whether the limiter or a call says the plans.
 */
export type ChargingLimiter<TLimits extends LimitConfigs> = Pick<
  RateLimiter<TLimits, never>,
  "limits" | "clock"
> &
  Readonly<Record<"configOf" | "limit" | "limitAll" | "settle" | "reset", AnyFunction>>;

type Limiter = Pick<UntypedRateLimiter, "limit" | "limitAll" | "settle" | "reset">;

/**
 * Takes the tokens of all calls, or of none. Take before the work: with a limit of 5, a hundred requests
 * at once then get no further than a hundred in a row.
 *
 * @param isList whether `limitAll` charges the calls. If not, there is one call, and `limit` charges it.
 * @throws RateLimitError for a denied request.
 */
export async function take(
  limits: Pick<Limiter, "limit" | "limitAll">,
  calls: readonly GivenItem[],
  { isList, once, hold, context }: { isList: boolean } & HoldingOptions & ContextOption,
): Promise<Taken> {
  if (isList) {
    const granted = await limits.limitAll(calls, { once, hold, context, throws: true });
    return { results: granted.results, granted };
  }
  const [{ name, ...options }] = calls as [ChargedItem];
  const granted = await limits.limit(name, { ...options, once, hold, context, throws: true });
  return { results: [granted], granted };
}

/** @throws RateLimitError for a denied request. */
export async function chargeRequest<TFailure>(
  limiter: Limiter,
  items: readonly RequestItem<TFailure>[],
  context: unknown,
): Promise<ChargedRequest<TFailure>> {
  const calls = items.map(({ name, key, plan, config, ...item }) => {
    return { name, ...keyOption(key), ...countOption(item), plan, config };
  });
  // No item has a `first`.
  const taken = await take(limiter, calls, { isList: calls.length > 1, context });
  return { items, ...(taken as Taken<RateLimitResult>) };
}

/**
 * Whether the tokens of a request stay taken.
 *
 * @param failure `undefined` for a request that succeeded.
 */
export function isCostly<TFailure extends object>(
  { on, resetOnSuccess }: Policy<TFailure>,
  failure: TFailure | undefined,
): boolean {
  if (failure === undefined) return !resetOnSuccess && (on === "call" || on === "success");
  return on === "call" || on === "error" || (typeof on === "function" && on(failure));
}

/** A charge to give back, or a bucket to fill. */
interface FreeCharge extends Pick<ChargedItem, "name" | "key" | "plan" | "config"> {
  result: ItemResult;
  isReset: boolean;
}

/**
 * Gives the tokens back. A store that fails now must not change the answer: the tokens then stay taken.
 */
export async function giveBack(
  limiter: Pick<Limiter, "settle" | "reset">,
  charges: readonly FreeCharge[],
): Promise<void> {
  await Promise.allSettled(
    charges.map(async ({ name, key, plan, config, result, isReset }) => {
      if (isReset) await limiter.reset(name, { ...keyOption(key), plan, config });
      else await limiter.settle(result, 0);
    }),
  );
}

/**
 * Gives back the tokens that a request does not cost.
 *
 * @param failure `undefined` for a request that succeeded.
 * @returns for each item, whether its tokens stay taken.
 */
export async function settleRequest<TFailure extends object>(
  limiter: Limiter,
  { items, results }: ChargedRequest<TFailure>,
  failure: TFailure | undefined,
): Promise<boolean[]> {
  const costs = items.map((item) => isCostly(item, failure));
  const charges = items.map(({ name, key, plan, config, resetOnSuccess }, i) => {
    const isReset = failure === undefined && resetOnSuccess;
    return { name, ...keyOption(key), plan, config, result: results[i]!, isReset };
  });
  await giveBack(
    limiter,
    charges.filter((_, i) => !costs[i]),
  );
  return costs;
}

/**
 * @throws RateLimitConfigError for values that plain JavaScript may pass, and that would have no effect.
 */
export function validateCharging(
  option: string,
  { on = "call", resetOnSuccess = false }: { on?: unknown; resetOnSuccess?: unknown },
): void {
  if (typeof on !== "function" && !["call", "success", "error"].includes(on as string)) {
    const expected = '"call", "success", "error" or a function of the failure';
    throw new RateLimitConfigError(`${option}.on`, on, expected);
  }
  if (typeof resetOnSuccess !== "boolean") {
    throw new RateLimitConfigError(`${option}.resetOnSuccess`, resetOnSuccess, "a boolean");
  }
}
