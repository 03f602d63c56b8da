/**
 * Holds: tokens that a call took under an id, until it is known what was used. A hold is a row of its
 * own beside the marker of its id. The decision that takes the tokens writes the row, and the decision
 * that ends the hold deletes it:
 *
 * - `used`: the tokens held. Above 0: tokens that stay charged if nothing settles the hold in time. Below
 *   0: tokens that come back then.
 * - `ts`: when the hold lapses, in whole epoch ms, less a fraction of a ms. The fraction says how many
 *   holds the call has made, and whether these holds are shares of one count.
 *
 * The marker says what the call left in the bucket, and later how the hold has ended.
 *
 * Two more rows for each key are about all of its open holds. The first row is the sum of the holds. So
 * a reader needs no list of them, and a denied call learns from the sum whether there is something to
 * reclaim:
 *
 * - `used`: the tokens of all open holds.
 * - `ts`: the instant at which the first hold lapses, or earlier, in whole ms, less a fraction of a ms
 *   that changes with each hold that is added. So an unchanged sum proves that no hold was added
 *   meanwhile. Without the fraction, a hold of 5 that ends and a new hold of 5 could leave the same sum.
 *
 * The second row counts the holds, in `used`. Its `ts` says nothing. The count has a bound, and the
 * count tells when the last hold has ended. The sum cannot tell that: adding and subtracting fractions
 * leaves a residue in it.
 *
 * All these rows are never full. The decisions that end the holds delete them.
 */
import type { Bucket } from "../config.js";
import type { TakenTokens } from "../refund.js";
import { CLOSED } from "./bucket.js";
import { endOfHold, markerKey, takenAt } from "./marker.js";
import type { Row } from "./row.js";
import { RESERVED_PREFIX, type SideRows } from "./side-rows.js";

type OptionOf = SideRows["optionOf"];
const optionOf: OptionOf = (config) =>
  config.kind !== "concurrency" && config.holds ? "holds" : undefined;

export const HOLDS: SideRows = {
  prefix: `${RESERVED_PREFIX}hold:`,
  configOf: () => undefined,
  optionOf,
  keyStart: (storedKey) => markerKey(storedKey),
};

/** The rows with the sum of the holds of each key, and the rows that count the holds. */
export const HELD: SideRows = {
  prefix: `${RESERVED_PREFIX}held:`,
  configOf: () => undefined,
  optionOf,
};

/** Whether the tokens of a hold stay charged, or come back, when nothing settles the hold in time. */
export type HoldThen = "keep" | "release";

export interface Hold {
  /** Tokens held, above 0. */
  readonly count: number;
  readonly atLapse: HoldThen;
  /** When the hold lapses, whole epoch ms. */
  readonly until: number;
  /** How many holds its call has made under the id, this hold included. */
  readonly made: number;
  /** Whether these holds are shares of one count, as of `limitFirst`. Otherwise each is for the whole use. */
  readonly isShare: boolean;
}

export function holdState({ count, atLapse, until, made, isShare }: Hold): Row {
  const part = (2 * (Math.min(made, MOST_MADE) - 1) + Number(isShare)) / PARTS;
  return { used: atLapse === "keep" ? count : -count, ts: until - part };
}

export function holdOf({ used, ts }: Row): Hold {
  const until = Math.ceil(ts);
  const part = Math.round((until - ts) * PARTS);
  return {
    count: Math.abs(used),
    atLapse: used > 0 ? "keep" : "release",
    until,
    made: Math.floor(part / 2) + 1,
    isShare: part % 2 === 1,
  };
}

/** Whether a hold has lapsed; of a sum, whether one of its holds may have lapsed. */
export function isLapsed(state: Row | null | undefined, now: number): state is Row {
  return state !== null && state !== undefined && now >= state.ts;
}

/**
 * The instant at which the tokens of a lapsed hold come back, however late a call notices the lapse. So
 * refills after the lapse do not reduce the tokens that come back. A bucket that was written after the
 * lapse gets the tokens at the instant of that write. The `ts` of a closed bucket says when it opens, and
 * not when it was written: tokens of a hold that lapses before that do not come back.
 *
 * @param row the bucket.
 */
export function lapsesAt({ until }: Hold, row: Row | null): number {
  return row === null || row.used === CLOSED ? until : Math.max(until, row.ts);
}

/** How many holds are added until the fraction of a ms is the same again. */
const PARTS = 1024;

/** The most holds of one call for which the fraction has room. A call that makes more counts as this. */
const MOST_MADE = PARTS / 2;

/** The sum of the holds of a key, after one more hold. */
export function withHold(sum: Row | null, { count, until }: Hold): Row {
  if (sum === null) return { used: count, ts: Math.floor(until) };
  const first = Math.min(Math.ceil(sum.ts), Math.floor(until));
  const part = (partOf(sum) + 1 / PARTS) % 1;
  return { used: sum.used + count, ts: first - part };
}

/** The sum of the holds of a key, where the first hold lapses at `first`. */
export function lapsingAt(sum: Row, first: number): Row {
  return { used: sum.used, ts: Math.floor(first) - partOf(sum) };
}

function partOf({ ts }: Row): number {
  return Math.ceil(ts) - ts;
}

/** The sum of the holds of a key after one of them has ended, and others are left. */
export function withoutHold(sum: Row | null, count: number): Row | null {
  return sum && { used: Math.max(0, sum.used - count), ts: sum.ts };
}

/** The shard of the row that counts the holds of a key. Shard 0 has their sum. */
export const COUNT_SHARD = 1;

/**
 * The most open holds of a key: when one hold lapses, a database without an index by time reads all holds
 * of the key once.
 */
export const MOST_HOLDS = 10_000;

/** How many holds a key has. */
export function holdsIn(counted: Row | null): number {
  return counted?.used ?? 0;
}

/** The row that counts the holds of a key; `null` for none. */
export function holdCount(holds: number): Row | null {
  return holds > 0 ? { used: holds, ts: 0 } : null;
}

/**
 * The take of a hold, as far as it is known. Without its marker, the take was at most `onceFor` before
 * the hold lapses, and other calls may have taken any number of tokens since then.
 *
 * @param row the bucket, for its windows.
 */
export function takenByHold(
  { count, until }: Hold,
  marker: Row | null,
  row: Row | null,
  config: Bucket,
  onceFor: number,
): TakenTokens {
  const isOwn = marker !== null && marker.ts <= until && endOfHold(marker) === undefined;
  const [used, instant] = isOwn ? [marker.used, marker.ts] : [0, until - onceFor];
  return { count, used, ts: takenAt(instant, row, config) };
}
