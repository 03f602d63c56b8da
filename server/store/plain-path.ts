/**
 * The choice between the plain path and the general one. On the plain path, one statement takes tokens
 * by itself, under the lock of the row. On the general path, the decision runs in this process, and its
 * writes are guarded.
 *
 * The conditions on the numbers of a call are in this file. Other conditions are elsewhere, because
 * they are about the way of a batch, about a kind of decision, or about a kind of store:
 *
 * - Facts that are known of the row and of earlier tries (`group-commit/ways/ways.ts`).
 * - The numbers of the row: a statement leaves closed rows and some other rows to `core` (`owesNothing`
 *   in `take-terms.ts`).
 * - A decision without `plain` never takes the plain path: a decision of several claims, such as
 *   `limitAll`, or a decision with `once` (`ClaimDecision` in `limiter/claims/draft.ts`).
 * - A call that enters a slot takes the plain path where it believes a slot to be free (`EnterClaim` in
 *   `limiter/slots/slot-decisions.ts`).
 * - A call on rows that an override or a plan has fixed asks no store
 *   (`limiter/limits/overrides/answered-limit.ts`).
 */
import { capacityOf, type PeriodicConfig, type Bucket, reservableOf } from "../../core/config.js";
import type { RowId } from "./store.js";
import { fitsFull } from "./take-terms.js";

/**
 * Whether SQL can calculate the formulas of `core` for this config. The formulas have to stay clear of
 * overflow and underflow, where databases raise an error, and JavaScript goes on with `Infinity` or 0.
 * Days, weeks and months are left to `core`, too.
 */
export function isInRangeOfSql(config: Bucket): config is PeriodicConfig {
  return typeof config.period === "number" && isInRange(config);
}

/**
 * Whether a call on a limit with this config may be plain. For a limit of a time zone, a statement can
 * take the tokens of the present window, see `currentWindowTerms`.
 */
export function mayBePlain(config: Bucket): boolean {
  return (typeof config.period === "number" || config.windows !== undefined) && isInRange(config);
}

/** The least rate and the most tokens that SQL calculates with. */
const LEAST_RATE = 2 ** -64;
const MOST_TOKENS = 2 ** 128;
/**
 * The refill of a row that a statement must not take from: so far below 0 that no take passes, and
 * `core` decides the calls. The numbers of rows and terms are below 2^154, so the arithmetic stays far
 * from overflow.
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
  /** The least that counts as used before the take. @default 0 */
  least?: number | undefined;
  /** @default Infinity */
  maxWait?: number | undefined;
}

/** Called several times for each call, so it reads no more than it needs. */
export function canTakePlainly(tokens: Tokens): boolean {
  const { limit, rows, count, maxWait = Infinity } = tokens;
  // A statement cannot compute how long a wait will be, so a bounded wait is not plain.
  if (!limit.isPlain || !(count > 0) || maxWait !== Infinity) return false;
  // A call for more tokens than one shard can hold takes from both shards.
  return rows.length === 1 || fitsFull({ config: limit.part, floor: tokens.floor }, count);
}

/**
 * Whether a charge, or the take of a block, can be plain. A charge of several rows is spread over these
 * rows, and a charge of more than a row can owe or hold is refused, so neither is plain.
 */
export function canChargePlainly({ limit, rows, count, floor, least }: Tokens): boolean {
  const terms = { config: limit.part, floor, least };
  return limit.isPlain && rows.length === 1 && count > 0 && fitsFull(terms, count);
}
