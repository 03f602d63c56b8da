/** Reads the state of the observers of a tRPC client, for developers. */
import { observersOf } from "./transport.js";
import { type TRPCClientLike, untypedOf } from "./trpc-clients.js";
import type { ObserverInspection } from "./types.js";

/**
 * Reads what the observers of a client know, such as those of a `RateLimitProvider`. For pages that
 * show the state of the connection or the difference of the clocks. Nothing notifies of changes, so
 * read it now and then.
 *
 * @param client the application's client, the same that the provider got.
 * @returns one inspection for each observer that follows at least one limit.
 *
 * @example
 * import { inspectRateLimits } from "trpc-rate-limit/client";
 *
 * for (const { limits, offset } of inspectRateLimits(trpcClient)) {
 *   console.log(`${limits.length} limits; the server's clock is ${offset} ms ahead`);
 * }
 */
export function inspectRateLimits(client: TRPCClientLike): ObserverInspection[] {
  return Array.from(observersOf(untypedOf(client).runtime), (observer) => observer.inspect());
}
