/** Which calls a snapshot of the server includes. */
import { calculateRateLimit } from "../core/calculate.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { take } from "./prediction.js";

/** The `chargedAt` of a call that is not known to have been charged. */
export const UNCHARGED = Number.MAX_SAFE_INTEGER;

/** Tokens that a call is assumed to have taken. */
export interface Debit {
  /** When, on the server's clock. */
  at: number;
  /** The same, if the server's clock is as far behind as it can be. */
  earliest: number;
  count: number;
  /**
   * The sequence number of the answer that the call was charged, and {@link UNCHARGED} before: the
   * answers to later questions include the charge.
   */
  chargedAt: number;
  /** Set when a snapshot from about its time came, which may include the charge or not. */
  isDoubtful?: boolean;
}

/**
 * How long a call may take to its charge, ms, where the page cannot tell whether it was charged. It is
 * less than the time after which the server is asked about such a call.
 */
const LATEST_CHARGE = 1500;
/**
 * The part of a call's tokens that may be there all the same: when the call was charged is not quite
 * known, and a bucket that was full has refilled since.
 */
const SLACK = 0.25;

/**
 * The debits that a snapshot leaves open.
 *
 * A snapshot that was read while a call was on its way includes its charge or not, and the clocks
 * cannot tell: they are known to half a round trip, and the server decides when it gets there. The
 * tokens can. Those that have gone since the last snapshot were taken by the calls that have been
 * answered, and then by the oldest ones. Where another page took them, a call counts for nothing until
 * it is reported, and where tokens came back meanwhile, it counts twice until the server is asked.
 *
 * @param before the last snapshot; `undefined` where it has another config.
 * @param askedAt the sequence number of the question that it answers; absent where there was none.
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
  // A slot that was left hides one that was taken.
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
