/** Ties a slot to the body of a response, for handlers that return before their answer has ended. */
import { describe, RateLimitConfigError } from "../../../core/errors.js";
import { type StreamSlot, whileRead } from "./while-read.js";

/**
 * The response to return, whose body holds the slot. A response without a body releases the slot at once.
 *
 * @param ttl of the slot, ms.
 * @throws RateLimitConfigError for what is no response, and for a body that is in use. The slot is released.
 */
export function responseWithSlot(response: Response, slot: StreamSlot, ttl: number): Response {
  const problem = problemOf(response);
  if (problem !== undefined || response.body === null) void slot.release();
  if (problem !== undefined) {
    throw new RateLimitConfigError("response", response, { message: `during() needs ${problem}` });
  }
  if (response.body === null) return response;
  return new Response(whileRead(response.body, slot, ttl), response);
}

/** In plain JavaScript, a response can be any value. */
function problemOf(response: unknown): string | undefined {
  const { headers, body, bodyUsed } = Object(response) as Partial<Response>;
  if (typeof headers?.get !== "function" || body === undefined) {
    return `a Response, got ${describe(response)}`;
  }
  return bodyUsed || body?.locked ? "a response whose body is not in use" : undefined;
}
