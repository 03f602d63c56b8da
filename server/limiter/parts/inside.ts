/**
 * The parts of a limiter that the package's own code needs, such as the admin router. The parts are a
 * property with a registered symbol as its name. So the property is still there after a spread and behind
 * a proxy, and another copy of the package finds it.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { WhenKnown } from "../verbs/when-known.js";
import type { Context } from "../context/context.js";
import type { Decisions } from "../context/decisions.js";
import type { Parts } from "./limiter-parts.js";

const INSIDE = Symbol.for("trpc-rate-limit.inside");

export interface Inside {
  readonly parts: Parts;
  readonly context: Context;
  /** Wraps each operation. */
  readonly whenKnown: WhenKnown;
  readonly decisions: Decisions;
}

export function withInside<TLimiter extends object>(limiter: TLimiter, inside: Inside): TLimiter {
  return Object.assign(limiter, { [INSIDE]: inside });
}

/** @throws RateLimitConfigError for an object that `createRateLimiter` has not made. */
export function insideOf(limiter: object): Inside {
  const { [INSIDE]: inside } = limiter as { [INSIDE]?: Inside };
  if (inside !== undefined) return inside;
  const message =
    "the admin router needs the limiter that createRateLimiter() has returned; of one that wraps it, " +
    "give { ...limiter, and what it changes }";
  throw new RateLimitConfigError("limiter", limiter, { message });
}
