/** `whenStoreFails: "allow"`: which failures of the store let a call through, and with what answer. */
import type { Answers } from "./asked.js";

export function whenStoreFails(clock: () => number): Answers["opened"] {
  return (error, { failsOpen }) =>
    failsOpen && isOutage(error)
      ? { ok: true, value: 0, ts: clock(), storeFailed: true }
      : undefined;
}

/** In a transaction: the failure has ended it, so no call is let through. */
export const neverOpened: Answers["opened"] = () => undefined;

/**
 * A store that is only busy is no outage: callers can keep a store busy, for example by a slow
 * transaction on their own row.
 */
export function isOutage(error: unknown): boolean {
  const { name, isOutage: flag } = Object(error) as { name?: unknown; isOutage?: unknown };
  return name === "RateLimitStoreError" && flag !== false;
}
