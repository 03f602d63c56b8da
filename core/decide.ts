/**
 * Turns tokens into an answer: granted, reserved or denied. Pure. The server decides with it, and
 * the browser predicts with it.
 */
import { closedState } from "./block.js";
import {
  heldAt,
  initialState,
  type RateLimitState,
  roundUp,
  stateAt,
  waitFor,
} from "./calculate.js";
import { capacityOf, floorOf, type Bucket } from "./config.js";
import { validateCount } from "./count.js";

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
 *   or made it wait (`ok: true`; the tokens are reserved), for `retryAfter` ms.
 * - `storeFailed`: the store failed, and the limit's `whenStoreFails` is `"allow"`. It is unknown
 *   whether tokens were taken. `value` is 0, because the tokens left are not known.
 *
 * A denial with `remembered` is from the memory of this process, see `rememberDenials`: the store was
 * not asked. `retryAfter` and `value` are those of this instant.
 *
 * A grant with `repeated` is the first answer to the same id, see `once`: this call took nothing.
 * `retryAfter` is what is left of its wait. `refund` and `settle` give back nothing for it.
 *
 * `value` is the tokens left after the call. It can be a fraction, and it is negative while
 * reservations are outstanding. `ts` is the instant at which that is so, epoch ms: for a fixed
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
      shadow?: { ok: boolean; retryAfter: number };
      storeFailed?: true;
      repeated?: true;
    }
  | { ok: false; retryAfter: number; value: number; remembered?: true };

/** Tokens that one shard gave to a call. */
export interface TakenShard {
  /** The index of the shard, from 0. */
  shard: number;
  /** The tokens that it gave. */
  count: number;
}

/** A result, and the state to write. */
export interface RateLimitDecision {
  /** The answer for the caller. */
  result: RateLimitResult;
  /**
   * The state to write. `undefined` where nothing is to be written: when the call is denied, unless
   * the denial closes the bucket (`blockFor`).
   */
  next: RateLimitState | undefined;
}

/**
 * Takes `total` tokens, all of them or none. Returns the state to write, or `undefined` where less
 * than `floor` would be left. Keep the order of operations: SQL stores calculate the same formula
 * inside a statement, to the last bit.
 *
 * @param floor the least that may be left, see `floorOf`.
 */
export function takeTokens(
  existing: RateLimitState | null,
  config: Bucket,
  now: number,
  total: number,
  floor: number,
): RateLimitState | undefined {
  const held = heldAt(existing, config, now);
  const value = held.value - total;
  return value >= floor ? { value, ts: held.ts } : undefined;
}

/** {@link takeTokens} of a bucket without a row, which has the tokens. */
export function takeFromFull(config: Bucket, now: number, total: number): RateLimitState {
  // Where `now` is the last instant of a window, rounding can make it the first one of the next.
  if (config.kind === "fixed window") return takeTokens(null, config, now, total, -Infinity)!;
  return { value: (config.rate && capacityOf(config)) - total, ts: now };
}

/**
 * The answer to a call after its tokens were taken.
 *
 * @param next the state that was written.
 * @param later tokens that the same write took for calls after this one.
 */
export function grantOf(
  next: RateLimitState,
  config: Bucket,
  now: number,
  later: number = 0,
): RateLimitResult {
  const value = roundUp(next.value + later, config);
  const { ts } = next;
  if (value >= 0) return { ok: true, value, ts };
  // The work may be done once this debt is repaid, to the ms.
  const retryAfter = waitFor({ value, ts }, config, now, 0, floorOf(config, false));
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
  existing: RateLimitState | null,
  config: Bucket,
  now: number,
  count: number,
  reserve: boolean = false,
): RateLimitDecision {
  validateCount(count);
  const floor = floorOf(config, reserve);
  const next = takeTokens(existing, config, now, count, floor);
  if (next !== undefined) return { result: grantOf(next, config, now), next };
  const closed = closedState(existing, config, now);
  const state = closed ?? existing ?? initialState(config, now);
  const value = roundUp(stateAt(state, config, now).value, config);
  // A denied reservation waits until it may owe its tokens, not until they are there.
  const retryAfter = waitFor(state, config, now, count, floor);
  return { result: { ok: false, retryAfter, value }, next: closed };
}
