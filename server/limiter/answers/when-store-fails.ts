/** `whenStoreFails: "allow"`: which failures of the store let a call through, and with what answer. */
import type { Answers } from "./asked.js";

export function whenStoreFails(clock: () => number): Answers["opened"] {
  return (error, { failsOpen }) =>
    failsOpen && isOutage(error)
      ? { ok: true, value: 0, ts: clock(), storeFailed: true }
      : undefined;
}

/** In a transaction, which the failure has ended. */
export const neverOpened: Answers["opened"] = () => undefined;

/** Not a store that is only busy: callers can keep it so, for example by a slow transaction on their own row. */
export function isOutage(error: unknown): boolean {
  const { name, isOutage: flag } = Object(error) as { name?: unknown; isOutage?: unknown };
  return name === "RateLimitStoreError" && flag !== false;
}
