/**
 * Lowers the rows of a limit to what a provider says about its own limit, such as "500 tokens remain".
 * The rows are never raised: so many processes share one quota, although each process hears only a part
 * of the provider's answers.
 *
 * - With tokens left, the rows together hold no more than these tokens. Only rows that hold more than
 *   their share lose tokens.
 * - With nothing left, and a wait, the rows are closed, as by `blockFor`. A token bucket is empty at the
 *   end of the wait. A fixed window is closed until its first window that starts then or later, and then
 *   holds the tokens of that window alone. A debt or a closing that lasts longer stays.
 */
import { closedUntil } from "./block.js";
import { heldAt, usedAt, waitFor } from "./rows/reading.js";
import { type Bucket, emptyAt, floorOf, MAX_WAIT, mostUsed } from "./config.js";
import { isClosed, isOfLarger, rowOf } from "./rows/bucket.js";
import { withMoreUsed } from "./rows/larger.js";
import type { Row } from "./rows/row.js";

/**
 * The new states of the rows that share a limit; `undefined` for a row that stays as it is.
 *
 * @param config one shard's part, see `shardConfig`.
 * @param remaining tokens, finite and at least 0.
 * @param until the instant before which no call passes, epoch ms. Only used where nothing remains.
 */
export function observedRows(
  rows: readonly (Row | null)[],
  config: Bucket,
  now: number,
  remaining: number,
  until: number = now,
): (Row | undefined)[] {
  const held = rows.map((row) => heldAt(row, config, now));
  const most = levelOf(
    held.map(({ value }) => value),
    remaining,
  );
  return held.map(({ value, ts }, i) => {
    if (remaining <= 0 && until > now) return closedFor(rows[i]!, config, now, until);
    if (most >= value) return undefined;
    const row = rows[i]!;
    const lowered = rowOf(config, emptyAt(config) - most, ts);
    return row && isOfLarger(config, row)
      ? withMoreUsed(config, row, now, usedAt(row, config, now), value - most)
      : lowered;
  });
}

/** A row from which no call passes before `until`. `undefined` where that is so already. */
function closedFor(row: Row | null, config: Bucket, now: number, until: number): Row | undefined {
  const { used, ts } = usedAt(row, config, now);
  // A row of a clock that is ahead must neither go back in time nor get the tokens of its window again.
  const least = config.kind === "fixed window" ? ts + 1 : ts;
  const closed = closedUntil(Math.max(least, Math.min(until, now + MAX_WAIT)), config, ts);
  const floor = floorOf(config, false);
  const isOwed = used > mostUsed(config, floor);
  const opens = isClosed(row, now)
    ? row!.ts
    : now + (isOwed ? waitFor(row, config, now, 0, floor) : 0);
  return opens >= closed.ts ? undefined : closed;
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
