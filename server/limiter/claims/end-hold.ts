/**
 * Writes a hold, and ends it: exactly once, because the hold is a row that the decision deletes. The
 * tokens that come back are bounded as for a result, see `core/refund.ts`.
 */
import { chargeRows, validateChargeable } from "../../../core/charge.js";
import { heldAt } from "../../../core/rows/reading.js";
import type { Row } from "../../../core/rows/row.js";
import {
  holdCount,
  holdOf,
  holdsIn,
  holdState,
  isLapsed,
  lapsesAt,
  MOST_HOLDS,
  takenByHold,
  withHold,
  withoutHold,
  type Hold,
} from "../../../core/rows/hold.js";
import { endedMarker, endOfHold, type HoldEnd, isForgotten } from "../../../core/rows/marker.js";
import { RateLimitInputError } from "../../../core/errors.js";
import type { Usage } from "../../../core/usage.js";
import { rowKey, type RowId } from "../../store/store.js";
import type { Draft } from "./draft.js";
import { refundRows } from "./refund-rows.js";
import type { Marker } from "./markers.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import { usageRows, usageWrites } from "./counters.js";
import type { NotHeld } from "../types/settle.js";
import type { HoldRequest } from "./hold-request.js";

/** The limit of a hold, and the marker of its id. */
export interface HeldLimit {
  readonly limit: ResolvedLimit;
  readonly marker: Marker;
  /**
   * When the tokens of the hold were taken, epoch ms. Where it is set, a later hold of the same id does
   * not end.
   */
  readonly at?: number | undefined;
  /** The `context` of the call, where its result is there. */
  readonly context?: unknown;
}

/**
 * - `settle`: `actual` tokens were used.
 * - `give back`: up to `count` tokens were not used.
 * - `lapse`: nothing settled the hold in time. A hold that has not lapsed stays.
 */
export type Ending =
  | { readonly kind: "settle"; readonly actual: number }
  | { readonly kind: "give back"; readonly count: number }
  | { readonly kind: "lapse" };

export const LAPSE: Ending = { kind: "lapse" };

export type EndedHold =
  /** `used` tokens stay charged. The other tokens come back, except tokens that were replaced meanwhile. */
  | { ok: true; end: HoldEnd; count: number; used: number; value: number; isShare: boolean }
  /** `back` tokens came back, because the hold had lapsed. */
  | { ok: false; reason: NotHeld; back?: number };

/** The rows that a call with an id needs for a limit with holds, beside the limit's row and the marker. */
export function rowsOfHold(limit: ResolvedLimit, { hold, countedAt }: Marker): readonly RowId[] {
  if (hold === undefined) return [];
  // Calls for one token have a counter of their own.
  const counters = [ONE, SEVERAL].flatMap((usage) => usageRows(limit, countedAt!, usage));
  return [hold, limit.holdRows![1], limit.holdCount!, ...counters];
}

/** All rows that the end of a hold needs. */
export function rowsToEnd({ limit, marker }: HeldLimit): readonly RowId[] {
  const { row, hold, countedAt } = marker;
  const counters = usageRows(limit, countedAt!, OF_END);
  return [limit.rows[0], row, hold!, limit.holdRows![1], limit.holdCount!, ...counters];
}

const ONE: Partial<Usage> = { granted: 1, taken: 1, givenBack: 1 };
const SEVERAL: Partial<Usage> = { granted: 1, taken: 2 };
const OF_END: Partial<Usage> = { taken: 2, givenBack: 1 };

/** The tokens that a call holds of one limit. */
export interface NewHold extends HoldRequest {
  readonly limit: ResolvedLimit;
  readonly marker: Marker;
  /** Whether the hold is a share of a count that several limits pay together. */
  readonly isShare: boolean;
}

/**
 * Writes all holds of a call.
 *
 * @throws RateLimitInputError for a hold beyond the most that a key may have.
 */
export function writeHolds(draft: Draft, holds: readonly NewHold[], now: number): void {
  const made = new Set(holds.map(({ marker }) => rowKey(marker.hold!))).size;
  for (const each of holds) writeHold(draft, each, made, now);
}

function writeHold(draft: Draft, given: NewHold, made: number, now: number): void {
  const { limit, marker, for: ms, then: atLapse, count, isShare } = given;
  const { hold: row, countedAt } = marker;
  const sum = limit.holdRows![1];
  // Two items of one call may be for the same bucket.
  const earlier = draft.read(row!);
  const hold: Hold = { count, atLapse, until: now + ms, made, isShare };
  const all = earlier === null ? hold : { ...hold, count: count + holdOf(earlier).count };
  const counted = holdsIn(draft.read(limit.holdCount!));
  if (earlier === null && counted >= MOST_HOLDS) throw tooMany(limit);
  draft.write(row!, holdState(all));
  draft.write(sum, withHold(draft.read(sum), hold));
  if (earlier === null) draft.write(limit.holdCount!, holdCount(counted + 1));
  usageWrites(draft, limit, countedAt!, { granted: 1, taken: count });
}

export function endHold(
  draft: Draft,
  { limit, marker, at }: HeldLimit,
  ending: Ending,
  now: number,
): EndedHold {
  const { part, holdRows, holdCount: countRow } = limit;
  const row = limit.rows[0];
  const mark = draft.read(marker.row);
  const state = draft.read(marker.hold!);
  if (state === null) return { ok: false, reason: reasonOf(mark, marker, now) };
  if (at !== undefined && mark !== null && mark.ts !== at) return { ok: false, reason: "unknown" };
  const hold = holdOf(state);
  const hasLapsed = isLapsed(state, now);
  if (ending.kind === "lapse" && !hasLapsed) return { ok: false, reason: "unknown" };
  // Calculate this before the marker and the row are written.
  const taken = takenByHold(hold, mark, draft.peek(row), part, marker.onceFor);
  const end = hasLapsed ? lapseOf(hold) : endOf(hold, ending);
  const used = end === "kept" ? hold.count : usedBy(hold, hasLapsed ? LAPSE : ending);
  const back = hold.count - used;
  const endedAt = hasLapsed ? Math.min(now, lapsesAt(hold, draft.peek(row))) : now;
  if (back > 0) refundRows(limit, [row], back, [taken]).attempt(draft, endedAt);
  if (back < 0) chargeMore(draft, limit, -back, now);
  usageWrites(draft, limit, marker.countedAt!, back > 0 ? { givenBack: back } : { taken: -back });
  draft.write(marker.hold!, null);
  const sum = holdRows![1];
  const left = holdsIn(draft.read(countRow!)) - 1;
  draft.write(countRow!, holdCount(left));
  draft.write(sum, left > 0 ? withoutHold(draft.read(sum), hold.count) : null);
  if (mark !== null) draft.write(marker.row, endedMarker(mark, end));
  const { value } = heldAt(draft.read(row), part, now);
  // The hold had lapsed, so the ending that the caller wanted has not happened.
  if (hasLapsed && ending.kind !== "lapse") return { ok: false, reason: end, back };
  return { ok: true, end, count: hold.count, used, value, isShare: hold.isShare };
}

/** A forgotten marker gives no reason, whether the marker is pruned by now or not. */
function reasonOf(mark: Row | null, { onceFor }: Marker, now: number): NotHeld {
  if (mark === null || isForgotten(mark, onceFor, now)) return "unknown";
  return endOfHold(mark) ?? "unknown";
}

function lapseOf({ atLapse }: Hold): HoldEnd {
  return atLapse === "keep" ? "kept" : "given back";
}

/**
 * `"released"` where nothing was used: a later call with the id is then charged, or it would pass for
 * nothing.
 */
function endOf(hold: Hold, ending: Ending): HoldEnd {
  return usedBy(hold, ending) === 0 ? "released" : "settled";
}

function usedBy({ count }: Hold, ending: Ending): number {
  if (ending.kind === "lapse") return 0;
  return ending.kind === "settle" ? ending.actual : Math.max(0, count - ending.count);
}

function tooMany({ name }: ResolvedLimit): RateLimitInputError {
  const message =
    `a key of "${name}" has ${MOST_HOLDS} open holds, the most that it may have: settle or release ` +
    "them, or give hold.for a shorter time";
  return new RateLimitInputError("holds", message);
}

/** Charges tokens beyond the estimate, also into debt, because the call has used them. */
function chargeMore(draft: Draft, limit: ResolvedLimit, count: number, now: number): void {
  const row = limit.rows[0];
  validateChargeable(limit.name, limit.part, count);
  const { next } = chargeRows([draft.read(row)], limit.part, now, count);
  draft.write(row, next[0]!);
}
