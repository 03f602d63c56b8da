/**
 * Holds: tokens that a call took under an id, until it is known what was used. A hold is a row of its
 * own beside the marker of its id, written in the decision that takes the tokens, and deleted by the one
 * that ends it:
 *
 * - `used`: the tokens held, above 0. Below 0: they come back if nothing settles the hold in time.
 * - `ts`: when the hold lapses, in whole epoch ms, less a part of a ms that says of how many holds of
 *   its call it is one, and whether these paid for one count together.
 *
 * The marker says what the taking left in the bucket, and later how the hold has ended.
 *
 * Two more rows for each key are about all of its open holds. The first one adds them up. So reading
 * them needs no list, and a call that is denied learns from it whether there is something to reclaim:
 *
 * - `used`: the tokens held by all of them.
 * - `ts`: no later than the first of them lapses, in whole ms, less a part of a ms that changes with
 *   each hold that is added. So a sum that is as it was tells that no hold has come meanwhile, also
 *   where others of the same count have ended.
 *
 * The second one counts them, in `used`. Its `ts` says nothing. It bounds them, and it tells when the
 * last one has ended: adding and subtracting fractions leaves a residue in the sum.
 *
 * Such rows are never full. What ends the holds deletes them.
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

/** The rows that add up the holds of each key, and those that count them. */
export const HELD: SideRows = {
  prefix: `${RESERVED_PREFIX}held:`,
  configOf: () => undefined,
  optionOf,
};

/** What becomes of a hold that nothing settles in time. */
export type HoldThen = "keep" | "release";

export interface Hold {
  /** Tokens held, above 0. */
  readonly count: number;
  readonly atLapse: HoldThen;
  /** When it lapses, whole epoch ms. */
  readonly until: number;
  /** How many holds its call has made under the id, this one included. */
  readonly made: number;
  /** Whether these are shares of one count, as of `limitFirst`. Otherwise each is for all that is used. */
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

/** Whether a hold lapses now, or one of those that a row adds up may. */
export function isLapsed(state: Row | null | undefined, now: number): state is Row {
  return state !== null && state !== undefined && now >= state.ts;
}

/**
 * When the tokens of a lapsed hold come back, whenever that is noticed. So what comes back does not shrink
 * meanwhile by what refills. A bucket that was written later gets them right after that. One that was
 * closed says when it opens, and not when it was written: what lapses before that does not come back.
 *
 * @param row the bucket.
 */
export function lapsesAt({ until }: Hold, row: Row | null): number {
  return row === null || row.used === CLOSED ? until : Math.max(until, row.ts);
}

/** How many holds are added until the part of a ms is the same again. */
const PARTS = 1024;

/** A call that makes more holds counts as one that makes so many: a part of a ms has no room for more. */
const MOST_MADE = PARTS / 2;

/** The sum of the holds of a key, with one more of them. */
export function withHold(sum: Row | null, { count, until }: Hold): Row {
  if (sum === null) return { used: count, ts: Math.floor(until) };
  const first = Math.min(Math.ceil(sum.ts), Math.floor(until));
  const part = (partOf(sum) + 1 / PARTS) % 1;
  return { used: sum.used + count, ts: first - part };
}

/** The sum of the holds of a key, of which the first lapses at this instant. */
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

/** The place of the row that counts the holds of a key, behind the one that adds them up. */
export const COUNT_SHARD = 1;

/**
 * The most open holds of a key: where one of them lapses, a database without an index by time reads all
 * of them once.
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
 * What is known of the taking. Without its marker, it was at most `onceFor` before the hold lapses, and
 * others may have taken any number since.
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
