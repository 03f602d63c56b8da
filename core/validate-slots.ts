/** Validates a limit of slots. Its errors name the option that is wrong. */
import type { ConcurrencyConfig } from "./limit-config.js";
import { describe, RateLimitConfigError } from "./errors.js";
import { DEFAULT_SLOT_TTL, MOST_SLOT_TTL } from "./rows/slot.js";

/** The most slots of a limit: a bound, because a call that is denied reads all slots. */
const MAX_SLOTS = 1000;
const LEAST_TTL = 1000;

/** @throws RateLimitConfigError quoting the option and its value. */
export function validateSlots(config: ConcurrencyConfig, path: string): void {
  const { kind: _, slots, ttl = DEFAULT_SLOT_TTL, ...others } = config;
  for (const [option, value] of Object.entries<unknown>(others)) {
    const advice =
      option === "lease"
        ? "ttl: how long a slot stays held after its holder has died, ms"
        : "slots and ttl, and a limit of its own for tokens";
    throw new RateLimitConfigError(`${path}.${option}`, value, {
      message:
        `${path}.${option} is not an option of slots (kind: "concurrency"), got ` +
        `${describe(value)}; use ${advice}`,
    });
  }
  if (!Number.isSafeInteger(slots) || slots < 1 || slots > MAX_SLOTS) {
    throw new RateLimitConfigError(`${path}.slots`, slots, `a whole number from 1 to ${MAX_SLOTS}`);
  }
  if (!Number.isSafeInteger(ttl) || ttl < LEAST_TTL || ttl > MOST_SLOT_TTL) {
    const problem = `a whole number of ms from ${LEAST_TTL} to ${MOST_SLOT_TTL}`;
    throw new RateLimitConfigError(`${path}.ttl`, ttl, problem);
  }
}
