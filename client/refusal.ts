/** Refusals: foretold from a prediction, and traced back from an error to a state that explains it. */
import type { RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { type CheckedRateLimit, opensAt } from "./prediction.js";
import type { RateLimitItem } from "./transport.js";

/**
 * What the server would say to a call that is predicted to be refused; `undefined` when it is not
 * known to be, or would be for ever, which is for the server to explain.
 *
 * @param at when it was predicted for, on the clock of `retryAt`.
 * @param count the tokens that the call wants.
 */
export function refusalOf(
  name: string,
  checked: CheckedRateLimit | undefined,
  at: number,
  count: number,
): RateLimitErrorData | undefined {
  if (checked?.retryAt === undefined || checked.retryAt === Infinity) return undefined;
  const { value, config, retryAt, now } = checked;
  return {
    kind: "RateLimited",
    name,
    retryAfter: Math.ceil(retryAt - at),
    value: value + count,
    config,
    now: Math.floor(now),
  };
}

/**
 * An error carries no key and no `ts`: a snapshot on which the same call waits for exactly
 * `retryAfter`. That is what the server said, and `value` alone would not always give it: a refused
 * call on shards saw two of them only.
 *
 * @param count the tokens that the call wanted.
 */
export function snapshotOfRefusal(
  { name, key }: RateLimitItem,
  { value, config, retryAfter, now }: RateLimitErrorData,
  count: number,
): RateLimitSnapshot {
  const { kind, rate, period, shards = 1 } = config;
  const part = Math.min(shards, 2) / shards;
  const step = kind === "token bucket" ? 1 : period;
  const steps = Math.ceil(retryAfter / step);
  // Tokens come to a fixed window when a window starts, so that is when the wait ends.
  const ts = kind === "token bucket" ? now : now + retryAfter - steps * period;
  const snapshot = { name, ...(key !== undefined && { key }), value, ts, config, now };
  // More than the call is known to have wanted: then its `value` is all there is to go by.
  if (opensAt(snapshot, count) === now + retryAfter || value >= count) return snapshot;
  // In the middle of what the last step brings, where rounding cannot reach either end.
  const held = count - ((steps - 0.5) * step * part * rate) / period;
  return { ...snapshot, value: Math.min(held, held / part) };
}
