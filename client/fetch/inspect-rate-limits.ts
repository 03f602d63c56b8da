/** Reads the state of the observers of a handler, for developers. */
import type { ObserverInspection } from "../types.js";
import { observersOfUrl } from "./observers-of-url.js";

/**
 * Reads what the observers of a handler know, such as those of a `RateLimitProvider`. For pages that
 * show the state of the connection or the difference of the clocks. Nothing notifies of changes, so
 * read it now and then.
 *
 * @param options `url`: that of the handler, as the observers have it.
 * @returns one inspection for each observer that follows at least one limit.
 *
 * @example
 * import { inspectRateLimits } from "trpc-rate-limit/fetch";
 *
 * for (const { limits, offset } of inspectRateLimits({ url: "/api/limits" })) {
 *   console.log(`${limits.length} limits; the server's clock is ${offset} ms ahead`);
 * }
 */
export function inspectRateLimits({ url }: { url: string }): ObserverInspection[] {
  return Array.from(observersOfUrl(url), (observer) => observer.inspect());
}
