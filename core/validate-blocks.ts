/** Validates `blockFor` and `forgiveAfter`. The errors name the option that does not fit. */
import { MAX_WAIT } from "./config.js";
import type { RateLimitConfig } from "./limit-config.js";
import { describe, RateLimitConfigError } from "./errors.js";

/** The most closings that are told apart. */
export const MOST_BLOCKS = 100;

/**
 * @param longest the longest closing that a wait can still be told for, ms.
 * @throws RateLimitConfigError quoting the option and its value.
 */
export function validateBlocks(config: RateLimitConfig, path: string, longest: number): void {
  const { blockFor } = config;
  const all: readonly unknown[] = Array.isArray(blockFor) ? blockFor : [blockFor];
  const refuse = (option: string, value: unknown, requirement: string) => {
    throw new RateLimitConfigError(`${path}.${option}`, value, requirement);
  };
  if (all.length === 0 || all.length > MOST_BLOCKS) {
    refuse("blockFor", blockFor, `a list of 1 to ${MOST_BLOCKS} numbers of ms`);
  }
  for (const [i, ms] of all.entries()) {
    const option = Array.isArray(blockFor) ? `blockFor[${i}]` : "blockFor";
    if (!isWholeMs(ms) || ms > longest) refuse(option, ms, "a whole number of ms above 0");
    else if (i > 0 && ms < (all[i - 1] as number)) {
      refuse(option, ms, `at least as long as the closing before it (${String(all[i - 1])})`);
    }
  }
}

/** Checks `forgiveAfter` without `blockFor`, too: plain JavaScript can have one without the other. */
export function validateForgiveAfter(config: RateLimitConfig, path: string): void {
  const { blockFor, forgiveAfter } = config;
  if (forgiveAfter === undefined) return;
  const option = `${path}.forgiveAfter`;
  if (!isWholeMs(forgiveAfter) || forgiveAfter > MAX_WAIT) {
    throw new RateLimitConfigError(option, forgiveAfter, "a whole number of ms above 0");
  }
  if (Array.isArray(blockFor)) return;
  const message =
    `${option} goes with a list of blockFor alone, got ${describe(forgiveAfter)}: ` +
    "make blockFor a list, such as [60_000, 300_000], or leave forgiveAfter out";
  throw new RateLimitConfigError(option, forgiveAfter, { message });
}

function isWholeMs(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
