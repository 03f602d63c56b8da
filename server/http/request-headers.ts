/** The header fields of a request that was let through, for all of its limits. */
import type { ChargedRequest, RequestItem } from "../hosts/charge-request.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { factsOf } from "./limit-of-result.js";
import { headersOf } from "./rate-limit-headers.js";
import type { RateLimitHeadersOptions } from "./x-rate-limit.js";

/**
 * @param isShown whether the fields are about the item.
 * @returns the fields without those of limits whose tokens are not known.
 */
export function headersOfRequest<TFailure>(
  limiter: UntypedRateLimiter,
  { items, results }: Pick<ChargedRequest<TFailure>, "items" | "results">,
  isShown: (item: RequestItem<TFailure>, index: number) => boolean,
  options: RateLimitHeadersOptions,
): Record<string, string> {
  const facts = items.flatMap((item, i) => {
    const result = results[i]!;
    const isUnknown = result.ok && (result.storeFailed || result.disabled);
    if (isUnknown || !isShown(item, i)) return [];
    const { name, key, plan, config } = item;
    return [factsOf(result, { limiter, name, key, plan: plan as never, config })];
  });
  return headersOf(facts, options);
}
