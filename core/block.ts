/**
 * Closes a bucket after a denial (`blockFor`). The row stays two numbers: it gets a debt that is
 * refilled when the bucket has to open. The debt also marks the bucket as closed. It stays in the
 * row until the next grant, because a denied call writes nothing else.
 */
import { heldAt, type RateLimitState, stateAt } from "./calculate.js";
import { type Bucket, shortestBlock } from "./config.js";
import { closedMark, isInDebt } from "./rows/bucket.js";
import { windowAfter, windowAt, windowsSince } from "./windows.js";

/**
 * The state to write after a call was denied. `undefined` without `blockFor`, and for a bucket from
 * which no call was granted since it was closed or went into debt.
 *
 * - A token bucket holds 0 tokens again after exactly `blockFor`.
 * - A fixed window holds nothing until the first window that starts after `blockFor`, and then the
 *   tokens of that window alone. With `afterBlock: "new window"`, its windows are moved so that one
 *   starts at the end of `blockFor`. The row's `ts` is the start of the window before that, so here
 *   it can decrease, by less than a period.
 */
export function closedState(
  existing: RateLimitState | null,
  config: Bucket,
  now: number,
): RateLimitState | undefined {
  const { rate } = config;
  // Of a list, the first one. A call that counts closings replaces the list, see `withNextBlock`.
  const blockFor = shortestBlock(config);
  if (blockFor === undefined || isInDebt(existing, config)) return undefined;
  const { ts } = heldAt(existing, config, now);
  // The row is from the future where the clock of this server is behind.
  const from = Math.max(now, ts);
  if (config.kind !== "fixed window") {
    return { value: -(blockFor * rate) / config.period, ts: from };
  }
  // Whole, because the start of a window is a whole number of periods away from the next one.
  const until = Math.ceil(from + blockFor);
  const start =
    config.afterBlock === "new window" ? windowAt({ ...config, start: until }, from) : ts;
  let windows = windowsSince(config, start, until);
  if (windowAfter(config, start, windows) < until) windows++;
  return { value: (1 - windows) * rate - closedMark(config), ts: start };
}

/** Whether a bucket is closed now: tokens that come back must not open it. */
export function isClosed(existing: RateLimitState | null, config: Bucket, now: number): boolean {
  if (config.blockFor === undefined || !isInDebt(existing, config)) return false;
  return stateAt(existing!, config, now).value <= 0;
}
