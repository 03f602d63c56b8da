/** Denials: predicted from a snapshot, and turned back into a snapshot that explains them. */
import { MAX_RETRY_AFTER } from "../core/config.js";
import { denialsOf, type RateLimitDenial, type RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { windowAt, windowsSince } from "../core/windows.js";
import { availableAt } from "./prediction.js";
import type { CheckedRateLimit, LimitUse, RateLimitItem, RateLimitObserver } from "./types.js";

/**
 * The server's answer to a call that is predicted to be denied. `undefined` when no denial is
 * predicted. Also `undefined` when the call could never pass: the server explains that better.
 *
 * @param at the instant of the prediction, on the clock of `retryAt`.
 * @param count the tokens that the call wants.
 */
export function denialOf(
  name: string,
  checked: CheckedRateLimit | undefined,
  at: number,
  count: number,
): RateLimitErrorData | undefined {
  // `NaN`, from malformed data, is no denial either.
  if (!checked || !(checked.retryAt! < Infinity)) return undefined;
  const { value, config, retryAt, now } = checked;
  return {
    kind: "RateLimited",
    name,
    retryAfter: Math.ceil(retryAt! - at),
    value: value + count,
    config,
    now: Math.floor(now),
  };
}

/** The denial that an observer predicts for a call now, see {@link denialOf}. */
export function denialNow(
  observer: RateLimitObserver,
  item: RateLimitItem,
  count: number,
): RateLimitErrorData | undefined {
  const now = Date.now();
  return denialOf(item.name, observer.check(item, now, count), now, count);
}

/**
 * A snapshot on which the denied call waits for exactly `retryAfter`. The snapshot has to be derived,
 * because an error carries no key and no `ts`. `value` alone does not always give that wait: a denied
 * call on shards saw only two of them.
 *
 * @param count the tokens that the call wanted.
 */
export function snapshotOfDenial(
  { name, key }: RateLimitItem,
  { value, config, retryAfter, now }: RateLimitDenial & { now: number },
  count: number = 1,
): RateLimitSnapshot {
  const { shards = 1, rate } = config;
  const part = Math.min(shards, 2) / shards;
  let ts = now;
  let refilled: number;
  if (config.kind !== "fixed window") {
    // The middle of the last ms, so that rounding cannot reach either end.
    refilled = ((retryAfter - 0.5) * rate) / config.period;
  } else {
    // A fixed window gets its tokens when a window starts, so the wait ends at such a start.
    const windows = { ...config };
    if (!config.starts && config.period !== "month") windows.start = now + retryAfter;
    ts = windowAt(windows, now);
    refilled = (windowsSince(windows, ts, now + retryAfter) - 0.5) * rate;
  }
  const snapshot = { name, ...(key !== undefined && { key }), value, ts, config, now };
  // If `value` covers `count`, the call wanted more than is known here: keep the server's `value`.
  const wait = Math.min(availableAt(snapshot, count) - now, MAX_RETRY_AFTER);
  if (wait === retryAfter || value >= count) return snapshot;
  const held = count - part * refilled;
  return { ...snapshot, value: Math.min(held, held / part) };
}

/**
 * Calls `use` with each limit that denied a call, and a snapshot that explains its denial. The key
 * and the count of the call are known for one limit. The others are assumed to be the visitor's own,
 * and to have been asked for one token.
 */
export function explainDenials(
  known: LimitUse,
  data: RateLimitErrorData,
  record: (snapshot: RateLimitSnapshot, denial: RateLimitDenial) => void,
): void {
  for (const denial of denialsOf(data)) {
    const own: LimitUse = denial.name === known.name ? known : { name: denial.name };
    record(snapshotOfDenial(own, { ...denial, now: data.now }, own.count), denial);
  }
}
