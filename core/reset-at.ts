/**
 * When a bucket is full, or its next window begins. Pure: a page calculates it from a snapshot, and the
 * header fields from a result.
 */
import { type RateLimitState, readingOf, refill, waitAfter } from "./calculate.js";
import { type Bucket, capacityOf, isNever, mostUsed, toleranceOf } from "./config.js";
import { isCredits } from "./rows/credits.js";
import { windowAfter, windowAt, windowsSince } from "./windows.js";

/** The tokens of a limit at an instant, and the config that says how they come back. */
export type ResettableState<TConfig = Bucket> = {
  /** Tokens; negative while tokens are owed. */
  value: number;
  /** Tokens used, where they are known to the last bit; see {@link RateLimitState}. */
  used?: number | undefined;
  /** The config of the limit, as a snapshot, an error, `getValue` or `configOf` has it. */
  config: TConfig;
} & (
  | {
      /** The instant of `value`, epoch ms; for a fixed window, the start of a window. */
      ts: number;
      /** The present, epoch ms. @default ts */
      now?: number | undefined;
    }
  | { ts?: undefined; now: number }
);

/** See `resetAt` of `calculate-anywhere.ts`, which also knows the calendars of time zones. */
export function resetAt({ config, ts, now = ts!, ...tokens }: ResettableState): number | undefined {
  if (isCredits(config)) return undefined;
  if (config.kind !== "fixed window") return fullAt({ ...tokens, ts: ts ?? now }, config);
  const start = ts ?? windowAt(config, now);
  const next = windowAfter(config, start, windowsSince(config, start, now) + 1);
  return next === Infinity ? undefined : next;
}

/** The first ms at which a token bucket is full. */
function fullAt(state: RateLimitState, config: Bucket): number | undefined {
  // A clock that a page has corrected may have fractions.
  const from = Math.ceil(state.ts);
  const reading = readingOf(config, state);
  // Sums of doubles are not exact, and a rounding error must not cost a ms.
  const floor = capacityOf(config) - toleranceOf(config);
  if (refill(config, reading, from).used <= mostUsed(config, floor)) return from;
  const wait = waitAfter(reading, config, from, 0, floor);
  return isNever(wait) ? undefined : from + wait;
}
