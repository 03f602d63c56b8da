/** Validates the config of a limit. Its errors name the option that is wrong. */
import { MAX_SHARDS, MAX_WAIT, longestPeriod } from "./config.js";
import { describe, RateLimitConfigError } from "./errors.js";
import type { AnyFixedWindow, LimitConfig, TokenBucketConfig } from "./limit-config.js";
import { validateBlocks, validateForgiveAfter } from "./validate-blocks.js";
import { CALENDAR_PERIODS, validateCalendar } from "./validate-calendar.js";
import { checkCredits } from "./validate-credits.js";
import { validateHolds } from "./validate-holds.js";
import { validateLease } from "./validate-lease.js";
import { validateLevels } from "./validate-levels.js";
import { validateOnceFor } from "./validate-once.js";
import { validateSlots } from "./validate-slots.js";
import { validateUsage } from "./validate-usage.js";

/**
 * Validates a config once, at construction, so that the arithmetic can rely on it.
 *
 * @param path the name of the config in messages, such as `limits.sendMessage`.
 * @throws RateLimitConfigError quoting the option and its value.
 *
 * @example
 * import { validateConfig, type LimitConfig } from "trpc-rate-limit";
 *
 * const plan: LimitConfig = JSON.parse(text);
 * validateConfig(plan, "plans.pro"); // throws: "plans.pro.rate is …"
 */
export function validateConfig(given: LimitConfig, path = "config"): void {
  if (typeof given !== "object" || given === null) {
    throw new RateLimitConfigError(path, given, "a rate limit config");
  }
  if (given.kind === "concurrency") return validateSlots(given, path);
  for (const [option, value] of Object.entries<unknown>({ ...given })) {
    if (OPTIONS.has(option)) continue;
    const known = [...OPTIONS].join(", ");
    throw new RateLimitConfigError(`${path}.${option}`, value, {
      message: `${path}.${option} is not an option, got ${describe(value)}; use ${known}`,
    });
  }
  const config = given.kind === "credits" ? checkCredits({ ...given }, path) : given;
  const { kind, rate, period, capacity = rate, maxReserved = 0, shards = 1 } = config;
  const { blockFor, shadow = false, whenStoreFails = "fail", rememberDenials = 0 } = config;
  // Also of a token bucket: in plain JavaScript, it may have these options.
  const { start = 0, afterBlock } = config as { start?: unknown; afterBlock?: unknown };
  const demand = (holds: boolean, option: string, value: unknown, requirement: string) => {
    if (!holds) throw new RateLimitConfigError(`${path}.${option}`, value, requirement);
  };
  demand(
    KINDS.has(kind),
    "kind",
    kind,
    '"token bucket", "fixed window", "credits" or "concurrency"',
  );
  const noCredits = rate === 0 && kind === "token bucket" ? CREDITS_INSTEAD : "";
  demand(isFinite(rate) && rate > 0, "rate", rate, `a finite number above 0${noCredits}`);
  const isCalendar = kind === "fixed window" && CALENDAR_PERIODS.has(period);
  const isPeriod = isCalendar || (isWhole(period) && Number(period) > 0);
  demand(
    isPeriod,
    "period",
    period,
    kind === "fixed window"
      ? 'a whole number of ms above 0, "day", "week" or "month"'
      : "a whole number of ms above 0",
  );
  demand(isFinite(capacity) && capacity >= 0, "capacity", capacity, AT_LEAST_0);
  demand(isFinite(maxReserved) && maxReserved >= 0, "maxReserved", maxReserved, AT_LEAST_0);
  const oneOrMore = isWhole(shards) && shards >= 1 && shards <= MAX_SHARDS;
  demand(oneOrMore, "shards", shards, `a whole number from 1 to ${MAX_SHARDS}`);
  demand(isWhole(start), "start", start, "a whole number of ms");
  const startless = kind === "fixed window" || (config as { start?: unknown }).start === undefined;
  demand(startless, "start", start, "left out of a token bucket, which has no windows");
  const isDate = !isCalendar || Number.isFinite(new Date(Number(start)).getTime());
  demand(isDate, "start", start, "a date that JavaScript can represent");
  validateCalendar(config, path);
  const slowest = ((capacity + maxReserved) / rate) * longestPeriod(config);
  demand(slowest <= MAX_WAIT, "rate", rate, "enough to refill capacity and maxReserved in 2^52 ms");
  if (blockFor !== undefined) {
    validateBlocks(config, path, MAX_WAIT - slowest);
    demand(
      shards === 1,
      "blockFor",
      blockFor,
      "left out of a limit with shards, which is not one bucket",
    );
  }
  if (afterBlock !== undefined) {
    const isKnown = afterBlock === "next window" || afterBlock === "new window";
    demand(isKnown, "afterBlock", afterBlock, '"next window" or "new window"');
    const unfit =
      kind === "token bucket"
        ? "a token bucket, which refills little by little: use a fixed window"
        : blockFor === undefined
          ? "a limit without blockFor, which is never closed"
          : `a limit of ${period}s, whose windows start on a day of the calendar`;
    const isFit =
      kind === "fixed window" &&
      blockFor !== undefined &&
      !(isCalendar && afterBlock === "new window");
    demand(isFit, "afterBlock", afterBlock, `left out of ${unfit}`);
  }
  demand(typeof shadow === "boolean", "shadow", shadow, "a boolean");
  const isPolicy = whenStoreFails === "fail" || whenStoreFails === "allow";
  demand(isPolicy, "whenStoreFails", whenStoreFails, '"fail" or "allow"');
  const isMemory = isWhole(rememberDenials) && rememberDenials >= 0;
  demand(isMemory, "rememberDenials", rememberDenials, "a whole number of ms of at least 0");
  const passable = capacity > 0 || config.maxReserved !== 0;
  demand(
    passable,
    "capacity",
    capacity,
    "above 0 where maxReserved is 0, or no call could ever pass",
  );
  validateLease(config, path);
  validateForgiveAfter(config, path);
  validateOnceFor(config, path);
  validateHolds(config, path);
  validateUsage(config, path);
  validateLevels(config, path);
}

const CREDITS_INSTEAD = ' (kind: "credits" is a balance that only credit() raises)';
const AT_LEAST_0 = "a finite number of at least 0";
const isFinite = (value: unknown): boolean => Number.isFinite(value);
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);
const OPTIONS: ReadonlySet<string> = new Set<keyof TokenBucketConfig | keyof AnyFixedWindow>([
  "kind",
  "rate",
  "period",
  "capacity",
  "maxReserved",
  "shards",
  "start",
  "timeZone",
  "weekStart",
  "blockFor",
  "forgiveAfter",
  "afterBlock",
  "shadow",
  "whenStoreFails",
  "rememberDenials",
  "lease",
  "onceFor",
  "holds",
  "usage",
  "warnAt",
]);
const KINDS: ReadonlySet<unknown> = new Set(["token bucket", "fixed window"]);
