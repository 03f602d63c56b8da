/**
 * Gives tokens back, for work that was charged and then not done.
 *
 * A refund must not leave more in the bucket than there would be if the tokens had never been taken.
 * That number depends on what other calls took and gave back meanwhile. The two numbers of a row do not
 * say that. So the bound assumes the worst: the bucket was full except for these tokens, and every refill
 * since then has replaced some of them. Of 5 tokens, 2 come back after a refill of 3.
 *
 * While the bucket is in debt, reserved calls wait for their turns, and the debt is the only record of
 * these turns. So only the last call in line gives its tokens back. If an earlier call lowered the debt,
 * the next call would get a turn that was promised to another one. Where nothing can be reserved
 * (`maxReserved: 0`), the debt is from a charge, and promises no turn.
 *
 * A bucket that a denial has closed (`blockFor`) gets nothing back.
 */
import { refillBetween } from "./calculate.js";
import { heldAt, type Level, levelAt, usedAt } from "./rows/reading.js";
import { type Bucket, capacityOf, leastUsed, toleranceOf } from "./config.js";
import { validateCount } from "./count.js";
import { isClosed, isOfLarger, levelIn, rowOf } from "./rows/bucket.js";
import { isCredits } from "./rows/credits.js";
import { withMoreUsed } from "./rows/larger.js";
import type { Row } from "./rows/row.js";

/** Tokens that a row gave to a call, and what the row said after that. */
export interface TakenTokens extends Row {
  count: number;
  /** Tokens of `count` that were given back before. @default 0 */
  refunded?: number;
}

export interface RefundedRateLimit {
  /** The tokens that the rows have left together, after the refund. */
  value: number;
  /** The rows to write; `undefined` for one that stays as it is. */
  next: (Row | undefined)[];
  /** Tokens that were given back, by row. */
  refunded: number[];
  /** Tokens that were not given back. */
  rest: number;
}

/**
 * Gives up to `count` tokens back to the rows that they were taken from.
 *
 * @param config one shard's part, see `shardConfig`.
 * @param taken what each row gave, in the order of `rows`.
 * @throws RateLimitInputError when `count` is negative or not finite.
 */
export function refundTaken(
  rows: readonly (Row | null)[],
  config: Bucket,
  now: number,
  count: number,
  taken: readonly TakenTokens[],
): RefundedRateLimit {
  return refundEach(rows, config, now, count, {
    isOwn: (index) => isOwnOfLarger(rows[index]!, config, taken[index]!),
    mostOf: (held, index) => refundable(held, config, taken[index]!),
  });
}

/**
 * Gives `count` tokens to rows that share a limit, the emptiest first, up to their capacity. For tokens
 * of which only the number is known. A missing row is full already.
 *
 * @param config one shard's part, see `shardConfig`.
 * @throws RateLimitInputError when `count` is negative or not finite.
 */
export function refundRateLimit(
  rows: readonly (Row | null)[],
  config: Bucket,
  now: number,
  count: number,
): RefundedRateLimit {
  return refundEach(rows, config, now, count, { isOwn: () => false, mostOf: () => Infinity });
}

/**
 * Whether this config took the tokens from the row of a larger config, and recorded that in `ts` alone;
 * see `rows/larger.ts`. Otherwise the tokens are a part of what the larger config has used.
 */
function isOwnOfLarger(row: Row | null, config: Bucket, taken: TakenTokens): boolean {
  return row !== null && row.ts < taken.ts && !isOfLarger(config, taken) && isOfLarger(config, row);
}

/** How many of the taken tokens may come back to their row; 0 or below where none may. */
function refundable(held: Level, config: Bucket, taken: TakenTokens): number {
  const { count, refunded = 0 } = taken;
  // Nothing has replaced credits.
  if (isCredits(config)) return count - refunded;
  const refilled = refillBetween(config, taken.ts, held.ts);
  // The tokens that other calls took since then, less the tokens that they gave back. While calls wait,
  // only the last call in line gives back, so the tokens of all waiting calls are counted.
  const takenSince = held.used - levelIn(config, taken).used + refilled + refunded;
  const tolerance = toleranceOf(config);
  const mayWait = config.maxReserved !== 0;
  const isOwed = !held.isOfLarger && held.used > capacityOf(config) + tolerance;
  if (mayWait && isOwed && takenSince > tolerance) return 0;
  return count - refilled - refunded;
}

function refundEach(
  rows: readonly (Row | null)[],
  config: Bucket,
  now: number,
  count: number,
  of: {
    /** Whether this config has taken the tokens, and not a larger config. */
    isOwn(index: number): boolean;
    mostOf(held: Level, index: number): number;
  },
): RefundedRateLimit {
  validateCount(count);
  const held = rows.map((row, index) =>
    of.isOwn(index)
      ? { ...usedAt(row, config, now), isOfLarger: false }
      : levelAt(row, config, now),
  );
  const next: (Row | undefined)[] = rows.map(() => undefined);
  const emptiestFirst = [...held.keys()].sort((a, b) => held[b]!.used - held[a]!.used);
  const refundedTo = rows.map(() => 0);
  let rest = count;
  for (const index of emptiestFirst) {
    const { used, ts, isOfLarger: isRaw } = held[index]!;
    if (isClosed(rows[index], now)) continue;
    const room = used - leastUsed(config);
    const refunded = Math.min(rest, room, of.mostOf(held[index]!, index));
    if (refunded <= 0) continue;
    // A row that gets full has used nothing: `used - refunded` could differ by a rounding error.
    const after = refunded === room ? leastUsed(config) : used - refunded;
    const row = rows[index];
    if (isRaw) next[index] = { used: after, ts };
    else if (row && isOfLarger(config, row))
      next[index] = withMoreUsed(config, row, now, { used, ts }, after - used);
    else next[index] = rowOf(config, after, ts);
    refundedTo[index] = refunded;
    rest -= refunded;
  }
  const left = rows.map((row, index) => heldAt(next[index] ?? row, config, now).value);
  const value = left.reduce((sum, each) => sum + each, 0);
  return { value, next, refunded: refundedTo, rest };
}
