/** Validates `usage` of a limit. Its errors name the option that does not fit. */
import { MAX_WAIT } from "./config.js";
import { DAY, MINUTE } from "./durations.js";
import { describe, RateLimitConfigError } from "./errors.js";
import type { RateLimitConfig } from "./limit-config.js";
import { usageTerms } from "./rows/usage.js";

const OPTIONS: ReadonlySet<string> = new Set(["every", "keep", "changes"]);

/** @throws RateLimitConfigError quoting the option and its value. */
export function validateUsage({ usage }: Pick<RateLimitConfig, "usage">, path: string): void {
  if (usage === undefined || typeof usage === "boolean") return;
  if (typeof usage !== "object" || usage === null) {
    throw new RateLimitConfigError(
      `${path}.usage`,
      usage,
      "true, or an object with every, keep and changes",
    );
  }
  for (const [option, value] of Object.entries(usage)) {
    if (OPTIONS.has(option)) continue;
    const message = `${path}.usage.${option} is not an option, got ${describe(value)}; use every, keep, changes`;
    throw new RateLimitConfigError(`${path}.usage.${option}`, value, { message });
  }
  const { every, keep, changes } = usageTerms(usage);
  const isSpan = Number.isSafeInteger(every) && every >= MINUTE && DAY % every === 0;
  if (!isSpan) {
    const problem =
      "a whole number of ms, at least a minute, that divides a day without a rest, such as HOUR";
    throw new RateLimitConfigError(`${path}.usage.every`, every, problem);
  }
  if (typeof changes !== "boolean") {
    throw new RateLimitConfigError(`${path}.usage.changes`, changes, "a boolean");
  }
  const isKept = Number.isSafeInteger(keep) && keep >= every && keep <= MAX_WAIT - DAY;
  if (isKept) return;
  throw new RateLimitConfigError(
    `${path}.usage.keep`,
    keep,
    `a whole number of ms, at least every (${every}), such as 90 * DAY`,
  );
}
