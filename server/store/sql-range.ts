import {
  capacityOf,
  type PeriodicConfig,
  type RateLimitConfig,
  reservableOf,
} from "../../core/config.js";

/**
 * Whether SQL can calculate the formulas of `core` for this config. They have to stay clear of
 * overflow and underflow. There, databases raise an error, and JavaScript goes on with `Infinity` or
 * 0. Months are left to `core`, too.
 */
export function isInRangeOfSql(config: RateLimitConfig): config is PeriodicConfig {
  const { rate } = config;
  const largest = Math.max(rate, capacityOf(config), reservableOf(config));
  return config.period !== "month" && rate >= 2 ** -64 && largest <= 2 ** 128;
}
