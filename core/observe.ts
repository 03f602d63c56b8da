/**
 * What a provider says about its own limit, such as "500 tokens remain". The rows of a limit are lowered
 * to it, and never raised: so many processes, each of which hears of a part, share one quota.
 *
 * - **With tokens left**, the rows together hold no more than these. Only rows that hold more than their
 *   share lose tokens.
 * - **With nothing left, and a wait**, they get a debt. A token bucket holds 0 tokens again at the end of
 *   the wait. A fixed window holds nothing until its first window that starts then or later, and then the
 *   tokens of that window alone. A debt that lasts longer stays.
 * - **Of a limit with `blockFor`**, such a debt counts as a closing, like every debt.
 */
import { heldAt, type RateLimitState } from "./calculate.js";
import { chargeFloor } from "./charge.js";
import type { Bucket } from "./config.js";
import { windowAfter, windowsSince } from "./windows.js";

/**
 * The states of rows that share a limit, after a provider was heard. `undefined` for a row that stays.
 *
 * @param config one shard's part, see `shardConfig`.
 * @param remaining tokens, finite and at least 0.
 * @param until the instant before which no call passes, epoch ms. It counts where nothing remains.
 */
export function observedRows(
  rows: readonly (RateLimitState | null)[],
  config: Bucket,
  now: number,
  remaining: number,
  until: number = now,
): (RateLimitState | undefined)[] {
  const held = rows.map((row) => heldAt(row, config, now));
  const most = levelOf(
    held.map(({ value }) => value),
    remaining,
  );
  return held.map(({ value, ts }) => {
    const closed = remaining > 0 || until <= now ? Infinity : closedUntil(until, ts, config);
    const next = Math.min(most, closed);
    return next < value ? { value: next, ts } : undefined;
  });
}

/**
 * The most that each row may hold, so that all of them hold no more than `total` together. A debt of one
 * row counts as nothing: a call may take from the others alone.
 */
function levelOf(values: readonly number[], total: number): number {
  let rest = total;
  for (const [i, value] of values.toSorted((a, b) => a - b).entries()) {
    const share = rest / (values.length - i);
    if (value > share) return share;
    rest -= Math.max(0, value);
  }
  return Infinity;
}

/** What a row holds at `ts` that holds nothing before `until`. */
function closedUntil(until: number, ts: number, config: Bucket): number {
  const { rate, period } = config;
  if (config.kind === "fixed window") {
    const begun = windowsSince(config, ts, until);
    const windows = begun + (windowAfter(config, ts, begun) < until ? 1 : 0);
    return windows === 0 ? Infinity : Math.max(chargeFloor(config), (1 - windows) * rate);
  }
  // No -0, which not every store keeps.
  const owed = 0 - (Math.max(0, until - ts) * rate) / (period as number);
  return Math.max(chargeFloor(config), owed);
}
