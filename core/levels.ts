/**
 * The levels of use at which a limit warns (`warnAt`): parts of its capacity, such as 0.8. Pages
 * calculate with this file, too.
 */
import { type Bucket, capacityOf, emptyAt, toleranceOf } from "./config.js";

/** Whether that much use reaches a level. A use that lacks no more than a rounding error reaches it. */
export function isReached(config: Bucket, level: number, used: number): boolean {
  return used >= level * capacityOf(config) - toleranceOf(config);
}

/** Whether the use of a token bucket fell so far below a level that the level can be crossed again. */
export function isFarBelow(config: Bucket, level: number, used: number): boolean {
  return used < (level * capacityOf(config)) / 2;
}

/**
 * The highest level of `warnAt` that is reached where `value` tokens are left. `value` is that of the
 * present, see `calculateRateLimit`.
 *
 * @returns a part of the capacity, such as 0.8; `undefined` below all levels, and without `warnAt`.
 *
 * @example
 * import { calculateRateLimit, levelOf } from "trpc-rate-limit";
 *
 * const quota = { kind: "fixed window", rate: 10, period: 60_000, warnAt: [0.8, 1] } as const;
 * const { value } = calculateRateLimit(null, quota, Date.now(), 9);
 * const level = levelOf(quota, value); // 0.8
 */
export function levelOf(config: Bucket, value: number): number | undefined {
  return config.warnAt?.findLast((level) => isReached(config, level, emptyAt(config) - value));
}
