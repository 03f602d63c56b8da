/** How long calls wait that stand in a line, as held calls do on a page. Pure. */
import { type Reading, readingOf, refill, unused, waitAfter } from "./calculate.js";
import { isNever, mostUsed, type ShownConfig, toleranceOf } from "./config.js";
import { isSatisfiable, validateCount } from "./count.js";

/** The tokens of a limit: a snapshot, or what `check(ts, 0)` of a hook or an observer returns. */
export interface TokensHeld {
  /** Tokens; negative while tokens are owed. */
  value: number;
  /** The limit's config, with `start` filled in for fixed windows. */
  config: ShownConfig;
  /** The instant from which the calls wait, epoch ms on the server's clock. */
  now: number;
  /** The instant at which `value` is true, epoch ms on the server's clock. @default now */
  ts?: number;
  /** The tokens that were used, where that is known: see `RateLimitState`. */
  used?: number | undefined;
}

/**
 * How long each call in a line waits until it has its tokens. The first call takes its tokens as
 * soon as they are there, then the second call, and so on. Predicts when held calls are sent, if no
 * other call takes tokens.
 *
 * With shards, the tokens are counted as those of one bucket, so a call can wait longer than predicted.
 *
 * @param counts the tokens that each call takes, in the order of the line.
 * @returns whole ms from `held.now`, one number per call. The number is `Infinity` for a count that could
 * never be granted, and where no wait brings the tokens, as with credits. Such a call takes no tokens
 * from the calls behind it.
 * @throws RateLimitInputError when a count is negative or not finite.
 *
 * @example
 * import { waitsInLine } from "trpc-rate-limit";
 *
 * const [snapshot] = await limiter.snapshots([{ name: "sendMessage", key: userId }]);
 * const waits = waitsInLine(snapshot!, [1, 1, 5]); // ms, one per call
 */
export function waitsInLine(held: TokensHeld, counts: readonly number[]): number[] {
  const { value, config, now, used } = held;
  const ts = held.ts ?? unused(config, now).ts;
  let reading: Reading = readingOf(config, { value, ts, used });
  const floor = -toleranceOf(config);
  let wait = 0;
  return counts.map((count) => {
    validateCount(count);
    if (config.shadow) return 0;
    if (!isSatisfiable(config, count, false)) return Infinity;
    if (refill(config, reading, now + wait).used + count > mostUsed(config, floor)) {
      const more = waitAfter(reading, config, now + wait, count, floor);
      if (isNever(more)) return Infinity;
      wait += more;
    }
    const taken = refill(config, reading, now + wait);
    reading = { used: taken.used + count, ts: taken.ts };
    return wait;
  });
}
