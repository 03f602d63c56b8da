/** Tells which calls a snapshot of the server includes. */
import { calculateRateLimit } from "../core/calculate.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { take } from "./prediction.js";

/** The `chargedAt` of a call that is not known to have been charged. */
export const UNCHARGED = Number.MAX_SAFE_INTEGER;

/** Tokens that a call is assumed to have taken. */
export interface Debit {
  /** When, on the server's clock. */
  at: number;
  /** `at`, if the server's clock is as far behind as it can be. */
  earliest: number;
  count: number;
  /**
   * The sequence number of the answer that told that the call was charged; {@link UNCHARGED} before that
   * answer. The answers to later questions include the charge.
   */
  chargedAt: number;
  /** Set when a snapshot from about the time of the call came, which may include the charge or not. */
  isDoubtful?: boolean;
}

/**
 * How long a call may take until it is charged, ms, where the page cannot tell whether it was charged.
 * Less than the time after which the server is asked about such a call.
 */
const LATEST_CHARGE = 1500;
/**
 * The part of a call's tokens that may be there although the call was charged: the instant of the charge
 * is not exactly known, and a bucket that was full has refilled since.
 */
const SLACK = 0.25;

/**
 * The debits that a snapshot leaves open.
 *
 * A snapshot that was read while a call was on its way includes the call's charge, or not. The clocks
 * cannot tell: they are known to half a round trip, and the charge is made when the call gets to the
 * server. The tokens can tell. Assume that the tokens that have gone since the last snapshot were taken
 * by the calls that have been answered, and then by the oldest calls. Where another page took the tokens,
 * a call counts for nothing until it is reported. Where tokens came back meanwhile, a call counts twice
 * until the server is asked.
 *
 * @param before the last snapshot; `undefined` where it has another config.
 * @param askedAt the sequence number of the question that `snapshot` answers; absent without a question.
 */
export function openDebits(
  debits: Iterable<Debit>,
  before: RateLimitSnapshot | undefined,
  snapshot: RateLimitSnapshot,
  askedAt: number = -Infinity,
): Debit[] {
  const inOrder = [...debits].sort((a, b) => a.chargedAt - b.chargedAt);
  if (inOrder.length === 0) return inOrder;
  const { config, now } = snapshot;
  const held = (one: RateLimitSnapshot) => calculateRateLimit(one, config, now).value;
  const value = held(snapshot);
  // Free slots cannot tell: a slot that a call left hides a slot that another call took.
  let expected = config.slots === undefined ? before && { ...before, config } : undefined;

  function isOpen(debit: Debit): boolean {
    const { at, earliest, count, chargedAt } = debit;
    if (now < earliest) return true;
    debit.isDoubtful = true;
    if (!expected) return chargedAt === UNCHARGED && at > now;
    const after = take(expected, at, count);
    const isIncluded = askedAt > chargedAt || value <= held(after) + SLACK * count;
    if (isIncluded) expected = after;
    return !isIncluded && now - at < LATEST_CHARGE;
  }

  return inOrder.filter(isOpen);
}
