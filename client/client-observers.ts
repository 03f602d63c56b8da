/** Where the `rateLimitLink` of a client and the observers that mirror through it find each other. */
import type { TRPCClientRuntime } from "@trpc/client";
import type { RateLimitObserver } from "./observer-types.js";

/** Shared by every copy of the package; a property of each client rather than of the module. */
const OBSERVERS = Symbol.for("trpc-rate-limit.observers");

/**
 * Those that follow something through one client.
 *
 * @param runtime the object that tRPC hands to a client's links, one per client.
 */
export function observersOf(
  runtime: TRPCClientRuntime & { [OBSERVERS]?: Set<RateLimitObserver> },
): Set<RateLimitObserver> {
  return (runtime[OBSERVERS] ??= new Set());
}
