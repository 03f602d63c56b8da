import { capacityOf, type RateLimitConfig, reservableOf } from "../../core/config.js";

/**
 * Whether the formulas of `core` stay clear of overflow and underflow for this config. There,
 * databases raise an error, and JavaScript goes on with `Infinity` or 0.
 */
export function isInRangeOfSql(config: RateLimitConfig): boolean {
  const { rate } = config;
  return rate >= 2 ** -64 && Math.max(rate, capacityOf(config), reservableOf(config)) <= 2 ** 128;
}
