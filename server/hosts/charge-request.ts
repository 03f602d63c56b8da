/** Charges a request by several limits, and gives back what it does not cost once it is answered. */
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { RateLimitResult } from "../../core/decide.js";
import { countOption } from "../../core/count.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { keyOption } from "../../core/key-option.js";
import type { LimitAllResult, LimitConfigs } from "../limiter/call-options.js";
import type { RateLimiter, UntypedRateLimiter } from "../limiter/limiter-types.js";

/** Which requests cost tokens. `TFailure` is how the framework tells of one that failed. */
export type ChargedOn<TFailure> = "call" | "success" | "error" | ((failure: TFailure) => boolean);

/** One limit of a request. */
export interface RequestItem<TFailure> {
  name: string;
  /** `undefined` for the bucket that all callers share. */
  key: string | undefined;
  count?: number;
  config?: RateLimitConfig | undefined;
  on: ChargedOn<TFailure>;
  resetOnSuccess: boolean;
}

/** A request that was let through. */
export interface ChargedRequest<TFailure> {
  items: readonly RequestItem<TFailure>[];
  /** One per item. */
  results: readonly RateLimitResult[];
  /** What the limiter answered. */
  granted: RateLimitResult | LimitAllResult;
}

/** What of a limiter charges requests. Any store will do, so the type of a transaction is not asked. */
export type ChargingLimiter<TLimits extends LimitConfigs> = Pick<
  RateLimiter<TLimits, never>,
  "limits" | "clock" | "configOf" | "limit" | "limitAll" | "settle" | "reset"
>;

type Limiter = Pick<UntypedRateLimiter, "limit" | "limitAll" | "settle" | "reset">;

/**
 * Takes the tokens of all items, or of none. Before the work, so that a hundred requests at once get
 * no further than a hundred in a row.
 *
 * @throws RateLimitError for a denied request.
 */
export async function chargeRequest<TFailure>(
  limiter: Limiter,
  items: readonly RequestItem<TFailure>[],
): Promise<ChargedRequest<TFailure>> {
  const calls = items.map(({ name, key, config, ...item }) => {
    return { name, ...keyOption(key), ...countOption(item), config };
  });
  if (calls.length > 1) {
    const granted = await limiter.limitAll(calls, { throws: true });
    return { items, results: granted.results, granted };
  }
  const [{ name, ...options }] = calls as [(typeof calls)[0]];
  const granted = await limiter.limit(name, { ...options, throws: true });
  return { items, results: [granted], granted };
}

/**
 * @param failure `undefined` for a request that succeeded.
 * @returns for each item, whether its tokens stay taken.
 */
export async function settleRequest<TFailure extends object>(
  limiter: Limiter,
  { items, results }: ChargedRequest<TFailure>,
  failure: TFailure | undefined,
): Promise<boolean[]> {
  const costs = items.map(({ on, resetOnSuccess }) => {
    if (failure === undefined) return !resetOnSuccess && (on === "call" || on === "success");
    return on === "call" || on === "error" || (typeof on === "function" && on(failure));
  });
  // A store that fails now must not change the answer. The tokens stay taken.
  await Promise.allSettled(
    items.map(async ({ name, key, config, resetOnSuccess }, i) => {
      if (costs[i]) return;
      if (failure === undefined && resetOnSuccess) {
        return limiter.reset(name, { ...keyOption(key), config });
      }
      return limiter.settle(results[i]!, 0);
    }),
  );
  return costs;
}

/** @throws RateLimitConfigError for options of plain JavaScript that would not do what they say. */
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
