/** Validates `onceFor` of a limit and of a limiter. */
import { MAX_WAIT } from "./config.js";
import type { RateLimitConfig } from "./limit-config.js";
import { describe, RateLimitConfigError } from "./errors.js";

/** @throws RateLimitConfigError quoting the option and its value. */
export function validateOnceFor(
  { onceFor, shards = 1 }: Pick<RateLimitConfig, "onceFor" | "shards">,
  path: string,
): void {
  if (onceFor === undefined) return;
  demandOnceFor(onceFor, `${path}.onceFor`);
  if (shards === 1) return;
  const message =
    `${path}.shards does not go with onceFor, got ${describe(shards)}: a call with once is one ` +
    "decision on its row, so leave shards out";
  throw new RateLimitConfigError(`${path}.shards`, shards, { message });
}

/** @throws RateLimitConfigError unless `onceFor` is a whole number of ms above 0. */
export function demandOnceFor(onceFor: number, option: string): void {
  if (Number.isSafeInteger(onceFor) && onceFor > 0 && onceFor <= MAX_WAIT) return;
  throw new RateLimitConfigError(option, onceFor, "a whole number of ms above 0");
}
