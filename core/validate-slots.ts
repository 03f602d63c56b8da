/** Validates a limit of slots. Its errors name the option that is wrong. */
import type { ConcurrencyConfig } from "./config.js";
import { describe, RateLimitConfigError } from "./errors.js";
import { DEFAULT_SLOT_LEASE, MOST_SLOT_LEASE } from "./slots.js";

/** The most slots of a limit. It is bounded because a call that is denied reads all of them. */
const MAX_SLOTS = 1000;
const LEAST_LEASE = 1000;

/** @throws RateLimitConfigError quoting the option and its value. */
export function validateSlots(config: ConcurrencyConfig, path: string): void {
  const { kind: _, slots, lease = { ms: DEFAULT_SLOT_LEASE }, ...others } = config;
  for (const [option, value] of Object.entries<unknown>(others)) {
    throw new RateLimitConfigError(`${path}.${option}`, value, {
      message:
        `${path}.${option} is not an option of slots (kind: "concurrency"), got ` +
        `${describe(value)}; use slots and lease, and a limit of its own for tokens`,
    });
  }
  if (!Number.isSafeInteger(slots) || slots < 1 || slots > MAX_SLOTS) {
    throw new RateLimitConfigError(`${path}.slots`, slots, `a whole number from 1 to ${MAX_SLOTS}`);
  }
  if (typeof lease !== "object" || lease === null) {
    throw new RateLimitConfigError(`${path}.lease`, lease, "an object, such as { ms: 30_000 }");
  }
  const { ms, ...unknown } = lease;
  const [option] = Object.keys(unknown);
  if (option !== undefined) {
    const message = `${path}.lease.${option} is not an option; use ms`;
    throw new RateLimitConfigError(`${path}.lease.${option}`, undefined, { message });
  }
  if (!Number.isSafeInteger(ms) || ms < LEAST_LEASE || ms > MOST_SLOT_LEASE) {
    const problem = `a whole number of ms from ${LEAST_LEASE} to ${MOST_SLOT_LEASE}`;
    throw new RateLimitConfigError(`${path}.lease.ms`, ms, problem);
  }
}
