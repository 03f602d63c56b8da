import type { RateLimitConfig } from "./config.js";

/** Whether two configs have equal options. */
export function sameConfig(a: RateLimitConfig, b: RateLimitConfig): boolean {
  if (a === b) return true;
  const names = Object.keys(a) as (keyof RateLimitConfig)[];
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
