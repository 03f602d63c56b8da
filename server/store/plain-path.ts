/**
 * The choice between the plain path and the general one. On the plain path, one statement takes
 * tokens by itself, on the lock of the row. On the general path, the decision runs here, and what it
 * writes is guarded.
 *
 * The conditions on the numbers of a call are in this file. Others are elsewhere, because they are about
 * the way of a batch, about a kind of decision, or about a kind of store:
 *
 * - What is known of the row, and of earlier tries (`group-commit/ways/ways.ts`).
 * - What the row says: a statement leaves closed rows to `core`, and some others (`owesNothing` in
 *   `take-terms.ts`).
 * - A decision without `plain` never takes this path: one of several claims, such as `limitAll`, and one
 *   with `once` (`ClaimDecision` in `limiter/claims/draft.ts`).
 * - A call that enters a slot does so where it believes a slot to be free (`EnterClaim` in
 *   `limiter/slots/slot-decisions.ts`).
 * - A call on rows that an override or a plan has fixed asks no store
 *   (`limiter/limits/overrides/answered-limit.ts`).
 */
import { capacityOf, type PeriodicConfig, type Bucket, reservableOf } from "../../core/config.js";
import type { RowId } from "./store.js";
import { fitsFull } from "./take-terms.js";

/**
 * Whether SQL can calculate the formulas of `core` for this config. They have to stay clear of
 * overflow and underflow. There, databases raise an error, and JavaScript goes on with `Infinity` or
 * 0. Days, weeks and months are left to `core`, too.
 */
export function isInRangeOfSql(config: Bucket): config is PeriodicConfig {
  return typeof config.period === "number" && isInRange(config);
}

/**
 * Whether a call on such a limit may be plain. Of a limit of a time zone, a statement can take the
 * tokens of the present window, see `currentWindowTerms`.
 */
export function mayBePlain(config: Bucket): boolean {
  return (typeof config.period === "number" || config.windows !== undefined) && isInRange(config);
}

/** The least rate and the most tokens that SQL calculates with. */
const LEAST_RATE = 2 ** -64;
const MOST_TOKENS = 2 ** 128;
/**
 * The refill of a row that a statement must not take from: so little that no take passes, and its calls
 * are decided by `core`. Row and terms hold less than 2^154, and are far from overflow.
 */
export const REFUSED_REFILL = -(2 ** 200);

function isInRange(config: Bucket): boolean {
  const { rate } = config;
  const largest = Math.max(rate, capacityOf(config), reservableOf(config));
  return rate >= LEAST_RATE && largest <= MOST_TOKENS;
}

interface Tokens {
  /** `isPlain` is {@link mayBePlain} of `part`. */
  limit: { readonly isPlain: boolean; readonly part: Bucket };
  rows: readonly RowId[];
  count: number;
  /** The least that may be left in a row. */
  floor: number;
  /** What is used at least before the take. @default 0 */
  least?: number | undefined;
  /** @default Infinity */
  maxWait?: number | undefined;
}

/** Called several times for each call, so it reads no more than it needs. */
export function canTakePlainly(tokens: Tokens): boolean {
  const { limit, rows, count, maxWait = Infinity } = tokens;
  // A statement cannot compute how long a wait will be, so a bounded wait is not plain.
  if (!limit.isPlain || !(count > 0) || maxWait !== Infinity) return false;
  // A call for more than one shard can hold takes from both.
  return rows.length === 1 || fitsFull({ config: limit.part, floor: tokens.floor }, count);
}

/**
 * For a charge, and for the take of a block. A charge of several rows is spread over them, and one of more
 * than a row can owe or hold is refused.
 */
export function canChargePlainly({ limit, rows, count, floor, least }: Tokens): boolean {
  const terms = { config: limit.part, floor, least };
  return limit.isPlain && rows.length === 1 && count > 0 && fitsFull(terms, count);
}
