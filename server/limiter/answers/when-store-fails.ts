/** `whenStoreFails: "allow"`: which failures of the store let a call through, and with what answer. */
import type { RateLimitResult } from "../../core/decide.js";
import type { Context } from "./context.js";
import type { ResolvedLimit } from "./resolve-limit.js";

/** The answer instead of a failure of the store; `undefined` if the call has to fail. */
export function openedBy(
  error: unknown,
  { failsOpen }: ResolvedLimit,
  { mayFailOpen, environment }: Context,
): RateLimitResult | undefined {
  const { name, isOutage } = Object(error) as { name?: unknown; isOutage?: unknown };
  if (!mayFailOpen || !failsOpen || name !== "RateLimitStoreError") return undefined;
  // Callers can keep a store busy, for example by a slow transaction on their own row.
  if (isOutage === false) return undefined;
  return { ok: true, value: 0, ts: environment.clock(), storeFailed: true };
}
