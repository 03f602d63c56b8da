/** Validates `warnAt` of a limit. Its errors name the option that does not fit. */
import type { RateLimitConfig } from "./limit-config.js";
import { describe, RateLimitConfigError } from "./errors.js";
import { codeOf } from "./rows/warning.js";

/** The most levels of a limit. Each is a row that a crossing call names. */
const MOST_LEVELS = 10;

/** @throws RateLimitConfigError quoting the option and its value. */
export function validateLevels(config: RateLimitConfig, path: string): void {
  const { warnAt, shards = 1, capacity = config.rate } = config;
  if (warnAt === undefined) return;
  const isList =
    Array.isArray(warnAt) && warnAt.length > 0 && warnAt.length <= MOST_LEVELS && isRising(warnAt);
  if (!isList) {
    throw new RateLimitConfigError(
      `${path}.warnAt`,
      warnAt,
      `a list of 1 to ${MOST_LEVELS} rising parts of the capacity, above 0 and up to 1, ` +
        "in whole thousandths, such as [0.8, 1]",
    );
  }
  if (shards > 1) {
    const message =
      `${path}.shards does not go with warnAt, got ${describe(shards)}: no row knows what all shards ` +
      "have used, so leave shards out";
    throw new RateLimitConfigError(`${path}.shards`, shards, { message });
  }
  if (capacity === 0) {
    throw new RateLimitConfigError(`${path}.capacity`, capacity, "above 0 for a limit with warnAt");
  }
}

function isRising(levels: readonly unknown[]): boolean {
  return levels.every((level, i) => isLevel(level) && (i === 0 || level > Number(levels[i - 1])));
}

function isLevel(level: unknown): level is number {
  return typeof level === "number" && level > 0 && level <= 1 && codeOf(level) / 1000 === level;
}
