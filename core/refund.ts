/**
 * Gives tokens back, for work that was charged and then not done.
 *
 * The bucket must not get more than it would hold if the tokens had never been taken. That depends
 * on what other calls took and gave back meanwhile, which two numbers do not say. So the bound
 * assumes the worst: that the bucket was full but for these tokens, and every refill since has
 * replaced some of them. While the bucket is in debt, calls in line have been promised their turns,
 * and only the last one in line gives its tokens back: the debt is all that tells the others of a
 * promise. A bucket that a denial has closed (`blockFor`) gets nothing back.
 */
import { isClosed } from "./block.js";
import { heldAt, type RateLimitState, refillBetween } from "./calculate.js";
import { capacityOf, type Bucket, toleranceOf } from "./config.js";
import { validateCount } from "./count.js";
import { isCredits } from "./rows/credits.js";

/** Tokens that a row gave to a call, and the state in which that left the row. */
export interface TakenTokens extends RateLimitState {
  count: number;
  /** Tokens of these that were given back before. @default 0 */
  refunded?: number;
}

export interface RefundedRateLimit {
  /** Tokens held by the rows together, after the refund. */
  value: number;
  /** The states to write; `undefined` for a row that stays as it is. */
  next: (RateLimitState | undefined)[];
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
  rows: readonly (RateLimitState | null)[],
  config: Bucket,
  now: number,
  count: number,
  taken: readonly TakenTokens[],
): RefundedRateLimit {
  return refundEach(rows, config, now, count, (held, index) => {
    return refundable(held, config, taken[index]!);
  });
}

/**
 * Gives `count` tokens to rows that share a limit, the emptiest first, up to their capacity. It is
 * for tokens of which nothing is known but their number. A missing row is full already.
 *
 * @param config one shard's part, see `shardConfig`.
 * @throws RateLimitInputError when `count` is negative or not finite.
 */
export function refundRateLimit(
  rows: readonly (RateLimitState | null)[],
  config: Bucket,
  now: number,
  count: number,
): RefundedRateLimit {
  return refundEach(rows, config, now, count, () => Infinity);
}

/** The tokens of a taking that may come back to its row. Where none may, zero or negative. */
function refundable(held: RateLimitState, config: Bucket, taken: TakenTokens): number {
  const { count, refunded = 0 } = taken;
  // Nothing has replaced credits. A debt of theirs was charged, and promises no call its turn.
  if (isCredits(config)) return count - refunded;
  const refilled = refillBetween(config, taken.ts, held.ts);
  // What others took since, less what they gave back. While calls wait, only the last one in line
  // gives back. So what the waiting calls took is counted.
  const takenSince = taken.value + refilled + refunded - held.value;
  const tolerance = toleranceOf(config);
  if (held.value < -tolerance && takenSince > tolerance) return 0;
  return count - refilled - refunded;
}

function refundEach(
  rows: readonly (RateLimitState | null)[],
  config: Bucket,
  now: number,
  count: number,
  mostOf: (held: RateLimitState, index: number) => number,
): RefundedRateLimit {
  validateCount(count);
  const capacity = capacityOf(config);
  const held = rows.map((row) => heldAt(row, config, now));
  const next: (RateLimitState | undefined)[] = rows.map(() => undefined);
  const emptiestFirst = [...held.keys()].sort((a, b) => held[a]!.value - held[b]!.value);
  const refundedTo = rows.map(() => 0);
  let rest = count;
  for (const index of emptiestFirst) {
    const { value, ts } = held[index]!;
    if (isClosed(rows[index]!, config, now)) continue;
    const refunded = Math.min(rest, capacity - value, mostOf(held[index]!, index));
    if (refunded <= 0) continue;
    // A row that gets full has `capacity` itself: `value + refunded` could differ by a rounding error.
    next[index] = { value: refunded === capacity - value ? capacity : value + refunded, ts };
    refundedTo[index] = refunded;
    rest -= refunded;
  }
  const value = held.reduce((sum, state, index) => sum + (next[index] ?? state).value, 0);
  return { value, next, refunded: refundedTo, rest };
}
