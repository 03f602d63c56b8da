/**
 * Holds: tokens that a call took under an id, until it is known what was used. A hold is a row of its
 * own beside the marker of its id, written in the decision that takes the tokens, and deleted by the one
 * that ends it:
 *
 * - `value`: the tokens held, above 0. Below 0: they come back if nothing settles the hold in time.
 * - `ts`: when the hold lapses, epoch ms.
 *
 * The marker says what the taking left in the bucket, and later how the hold has ended.
 *
 * One more row for each key adds up its open holds. So reading them needs no list, and a call that is
 * denied learns from it whether there is something to reclaim:
 *
 * - `value`: the tokens held by all of them.
 * - `ts`: no later than the first of them lapses, in whole ms, less a part of a ms that changes with
 *   each hold that is added. So a sum that is as it was tells that no hold has come meanwhile, also
 *   where others of the same count have ended.
 *
 * Such rows are never full. What ends the holds deletes them.
 */
import type { RateLimitState } from "../calculate.js";
import type { Bucket } from "../config.js";
import type { TakenTokens } from "../refund.js";
import { endOfHold, markerKey, takenAt } from "./marker.js";
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

/** The rows that add up the holds of each key. */
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
  /** When it lapses, epoch ms. */
  readonly until: number;
}

export function holdState({ count, atLapse, until }: Hold): RateLimitState {
  return { value: atLapse === "keep" ? count : -count, ts: until };
}

export function holdOf({ value, ts }: RateLimitState): Hold {
  return { count: Math.abs(value), atLapse: value > 0 ? "keep" : "release", until: ts };
}

/** Whether a hold lapses now, or one of those that a row adds up may. */
export function isLapsed(
  state: RateLimitState | null | undefined,
  now: number,
): state is RateLimitState {
  return state !== null && state !== undefined && now >= state.ts;
}

/** How many holds are added until the part of a ms is the same again. */
const PARTS = 1024;

/** The sum of the holds of a key, with one more of them. */
export function withHold(sum: RateLimitState | null, { count, until }: Hold): RateLimitState {
  if (sum === null) return { value: count, ts: Math.floor(until) };
  const first = Math.min(Math.ceil(sum.ts), Math.floor(until));
  const part = (partOf(sum) + 1 / PARTS) % 1;
  return { value: sum.value + count, ts: first - part };
}

/** The sum of the holds of a key, of which the first lapses at this instant. */
export function lapsingAt(sum: RateLimitState, first: number): RateLimitState {
  return { value: sum.value, ts: Math.floor(first) - partOf(sum) };
}

function partOf({ ts }: RateLimitState): number {
  return Math.ceil(ts) - ts;
}

/** Less than this is what rounding leaves of a sum. */
const LEAST_HELD = 1e-9;

/** The sum of the holds of a key after one of them has ended; `null` if it was the last one. */
export function withoutHold(sum: RateLimitState | null, count: number): RateLimitState | null {
  if (sum === null || sum.value - count < LEAST_HELD) return null;
  return { value: sum.value - count, ts: sum.ts };
}

/**
 * What is known of the taking. Without its marker, it was at most `onceFor` before the hold lapses, and
 * others may have taken any number since.
 *
 * @param row the bucket, for its windows.
 */
export function takenByHold(
  { count, until }: Hold,
  marker: RateLimitState | null,
  row: RateLimitState | null,
  config: Bucket,
  onceFor: number,
): TakenTokens {
  const isOwn = marker !== null && marker.ts <= until && endOfHold(marker) === undefined;
  const [value, instant] = isOwn ? [marker.value, marker.ts] : [Infinity, until - onceFor];
  return { count, value, ts: takenAt(instant, row, config) };
}
