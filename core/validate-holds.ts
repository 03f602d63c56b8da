/** Validates `holds` of a limit. */
import { describe, RateLimitConfigError } from "./errors.js";
import type { RateLimitConfig } from "./limit-config.js";

/** @throws RateLimitConfigError quoting the option that does not fit, and its value. */
export function validateHolds(
  { holds, shards = 1, blockFor }: Pick<RateLimitConfig, "holds" | "shards" | "blockFor">,
  path: string,
): void {
  if (!["boolean", "undefined"].includes(typeof holds)) {
    throw new RateLimitConfigError(`${path}.holds`, holds, "a boolean");
  }
  if (!holds) return;
  const refuse = (option: string, value: unknown, reason: string) => {
    const message = `${path}.${option} does not go with holds, got ${describe(value)}: ${reason}`;
    throw new RateLimitConfigError(`${path}.${option}`, value, { message });
  };
  if (shards !== 1)
    refuse("shards", shards, "a hold is one decision on one row, so leave shards out");
  if (blockFor !== undefined) {
    refuse("blockFor", blockFor, "a closed bucket takes nothing back, so leave one of them out");
  }
}
