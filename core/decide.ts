/**
 * Turns tokens into an answer: granted, reserved or denied. Pure. The server decides with it, and
 * the browser predicts with it.
 */
import { closedRow } from "./block.js";
import { roundUp } from "./calculate.js";
import { heldAt, usedAt, waitFor } from "./rows/reading.js";
import { type Bucket, emptyAt, floorOf, leastUsed, mostUsed } from "./config.js";
import { validateCount } from "./count.js";
import { isClosed, isOfLarger, levelIn, rowOf } from "./rows/bucket.js";
import { withMoreUsed } from "./rows/larger.js";
import type { Row } from "./rows/row.js";

/**
 * - `ok: true` without `retryAfter`: granted. Do the work now.
 * - `ok: true` with `retryAfter`: reserved. Do the work after that many ms, without another call.
 * - `ok: false`: denied. Nothing was consumed. The same call passes after `retryAfter` whole ms.
 *
 * `retryAfter` is at most 8e15 (`MAX_RETRY_AFTER`), which means never: credits do not refill. Only a
 * debt that was made under a much larger config takes as long, too.
 *
 * Two fields say that a call was let through without its tokens, or before they were there:
 *
 * - `shadow`: the limit is a shadow. It would have denied the call (`ok: false`; nothing was taken),
 *   or made it wait (`ok: true`; the tokens are reserved), for `retryAfter` ms. With `granted`, it would
 *   have granted so many tokens only (`atLeast`).
 * - `storeFailed`: the store failed, and the limit's `whenStoreFails` is `"allow"`. It is unknown
 *   whether tokens were taken. `value` is 0, because the tokens left are not known.
 *
 * A grant with `disabled` is of a limiter that is switched off, see `enabled`: nothing was taken, and the
 * store was not asked. `value` is that of a full bucket.
 *
 * A denial with `remembered` is from the memory of this process, see `rememberDenials`: the store was
 * not asked. `retryAfter` and `value` are those of this instant.
 *
 * A grant with `repeated` repeats the first answer to the same id, see `once`: this call took nothing.
 * `retryAfter` is the rest of the first call's wait. `refund` and `settle` give back nothing for a
 * repeated grant.
 *
 * `granted` is how many tokens a call with `atLeast` got, and the number of the first call where the
 * grant is repeated. Other calls get their whole `count`, and have no `granted`.
 *
 * `value` is the tokens left after the call. It can be a fraction, and it is negative while
 * reservations are outstanding. `ts` is the instant of `value`, epoch ms: for a fixed
 * window, the start of the window. `shards` says where the tokens of a sharded limit came from.
 * `refund` needs these three to know what it may give back.
 */
export type RateLimitResult =
  | {
      ok: true;
      retryAfter?: number;
      value: number;
      ts: number;
      shards?: readonly TakenShard[];
      shadow?: { ok: boolean; retryAfter: number; granted?: number };
      storeFailed?: true;
      repeated?: true;
      disabled?: true;
      granted?: number;
    }
  | { ok: false; retryAfter: number; value: number; remembered?: true };

/** Tokens that one shard gave to a call. */
export interface TakenShard {
  /** The index of the shard, from 0. */
  shard: number;
  /** The tokens that the shard gave. */
  count: number;
}

/** A result, and the row to write. */
export interface RateLimitDecision {
  /** The answer for the caller. */
  result: RateLimitResult;
  /**
   * The row to write. `undefined` where nothing is to be written: when the call is denied, unless
   * the denial closes the bucket (`blockFor`).
   */
  next: Row | undefined;
}

/**
 * Takes `total` tokens, all of them or none. Returns the row to write, or `undefined` where less
 * than `floor` would be left, and for a closed bucket. Keep the order of operations: SQL stores
 * calculate the same formula inside a statement, to the last bit.
 *
 * @param floor the least that may be left, see `floorOf`.
 * @param least what is used at least before the take, see `leastUsed`.
 */
export function takeTokens(
  existing: Row | null,
  config: Bucket,
  now: number,
  total: number,
  floor: number,
  least: number = leastUsed(config),
): Row | undefined {
  if (isClosed(existing, now)) return undefined;
  const held = usedAt(existing, config, now, least);
  const used = held.used + total;
  // With `!`, so that a NaN takes no tokens: every comparison with NaN is false.
  if (!(used <= mostUsed(config, floor))) return undefined;
  const next = rowOf(config, used, held.ts);
  // A debt is the same for every config.
  if (existing === null || next.used < 0 || !isOfLarger(config, existing)) return next;
  // A call for no tokens changes nothing.
  return total === 0 ? existing : withMoreUsed(config, existing, now, held, total);
}

/** {@link takeTokens} from a bucket that has no row, and enough tokens. */
export function takeFromFull(
  config: Bucket,
  now: number,
  total: number,
  least: number = leastUsed(config),
): Row {
  const { used, ts } = usedAt(null, config, now, least);
  return rowOf(config, used + total, ts);
}

/**
 * The answer to a call after its tokens were taken.
 *
 * @param next the row that was written.
 * @param later tokens that the same write took for calls after this one.
 */
export function grantOf(
  next: Row,
  config: Bucket,
  now: number,
  later: number = 0,
): RateLimitResult {
  // In a row of a larger config, `used` is what that config used. Read at `now` what this config has used.
  const reading = isOfLarger(config, next) ? usedAt(next, config, now) : levelIn(config, next);
  const { ts } = reading;
  const used = reading.used - later;
  const value = roundUp(emptyAt(config) - used, config);
  if (value >= 0 && !isClosed(next, now)) return { ok: true, value, ts };
  if (value >= 0) {
    const opensAfter = waitFor(next, config, now, 0, floorOf(config, false));
    return { ok: true, retryAfter: opensAfter, value, ts };
  }
  // The work may be done once this debt is repaid, to the ms.
  const own = rowOf(config, used, ts);
  const retryAfter = waitFor(own, config, now, 0, floorOf(config, false));
  return { ok: true, retryAfter, value, ts };
}

/**
 * Decides a call on one row.
 *
 * @param count tokens to take, valid for the config (see `validateSatisfiable`).
 * @param reserve whether the tokens may be owed, up to `maxReserved`.
 * @throws RateLimitInputError when `count` is negative or not finite.
 */
export function decideRateLimit(
  existing: Row | null,
  config: Bucket,
  now: number,
  count: number,
  reserve: boolean = false,
): RateLimitDecision {
  validateCount(count);
  const floor = floorOf(config, reserve);
  const next = takeTokens(existing, config, now, count, floor);
  if (next !== undefined) {
    // A row that stays as it is says what was used some time ago, so read it at `now`.
    const at = next === existing ? usedAt(next, config, now) : undefined;
    const row = at ? rowOf(config, at.used, at.ts) : next;
    return { result: grantOf(row, config, now), next };
  }
  const closed = closedRow(existing, config, now);
  const row = closed ?? existing;
  const value = roundUp(heldAt(row, config, now).value, config);
  // A denied reservation waits until it may owe its tokens, not until they are there.
  const retryAfter = waitFor(row, config, now, count, floor);
  return { result: { ok: false, retryAfter, value }, next: closed };
}
