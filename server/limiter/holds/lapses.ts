/**
 * The tokens that the open holds of a key will give back, and when. Callers of one process share the
 * holds that they have read, for as long as no hold comes or goes.
 */
import { CLOSED, rowOfTokens } from "../../../core/rows/bucket.js";
import type { Row } from "../../../core/rows/row.js";
import { lapsesAt, takenByHold } from "../../../core/rows/hold.js";
import type { LapsingTokens, RateLimitSnapshot } from "../../../core/snapshot.js";
import { readRows } from "../../store/earliest-by-list.js";
import { rowKey } from "../../store/store.js";
import type { Context } from "../context/context.js";
import { Draft } from "../claims/draft.js";
import { refundRows } from "../claims/refund-rows.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import type { HoldingLimit } from "../limits/holding-limit.js";
import { findHolds } from "./find-holds.js";
import type { Lapse } from "../context/shared-holds.js";

/** How many holds of a key are looked at. */
export const MOST_AHEAD = 200;
/** The most keys of which a process remembers the lapses. */
const MOST_REMEMBERED = 1000;

/** The lapses of a key that give tokens back, in their order. */
export function lapsesAhead(
  context: Context,
  { limit, sum }: HoldingLimit,
): Promise<readonly Lapse[]> {
  const { shared } = context;
  if (shared === undefined) return findLapses(context, limit);
  const { ahead } = shared;
  const id = rowKey(limit.holdRows![1]);
  const known = ahead.get(id);
  if (known?.sum.used === sum.used && known.sum.ts === sum.ts) return known.lapses;
  const lapses = findLapses(context, limit);
  const found = { sum, lapses };
  ahead.delete(id);
  ahead.set(id, found);
  lapses.catch(() => {
    if (ahead.get(id) === found) ahead.delete(id);
  });
  const [oldest] = ahead.keys();
  if (ahead.size > MOST_REMEMBERED) ahead.delete(oldest!);
  return lapses;
}

async function findLapses(context: Context, limit: ResolvedLimit): Promise<readonly Lapse[]> {
  const found = await findHolds(context, limit, MOST_AHEAD);
  const own = found.filter(({ hold }) => hold.atLapse === "release");
  const rows = own.map(({ marker }) => marker.row);
  const marks = await readRows(context.apply, rows);
  const byRow = new Map(marks.map(({ row, state }) => [row, state]));
  return own.map(({ hold, marker: { row, onceFor } }) => {
    return { hold, mark: byRow.get(row) ?? null, onceFor };
  });
}

/** A bucket after a lapse, if no other call takes or gives anything. */
export interface ForeseenState {
  /** When the hold lapses, epoch ms. */
  readonly at: number;
  /** How many tokens come back. */
  readonly count: number;
  readonly state: Row | null;
}

type Foreseen = readonly ForeseenState[];

/**
 * The last answer of `foresee` for each list of lapses: calls that are denied at the same time ask for
 * the same.
 */
const lastForeseen = new WeakMap<
  readonly Lapse[],
  { limit: ResolvedLimit; from: Row | null; foreseen: Foreseen }
>();

/** The states of a bucket after each of the lapses. @param from the state of the bucket now. */
export function foresee(
  limit: ResolvedLimit,
  lapses: readonly Lapse[],
  from: Row | null,
): Foreseen {
  const known = lastForeseen.get(lapses);
  const isKnown =
    known?.limit === limit && known.from?.used === from?.used && known.from?.ts === from?.ts;
  if (isKnown) return known.foreseen;
  let state = from;
  const foreseen = lapses.map(({ hold, mark, onceFor }) => {
    const at = hold.until;
    const draft = new Draft(limit.rows, [state]);
    const taken = takenByHold(hold, mark, state, limit.part, onceFor);
    const { rest } = refundRows(limit, limit.rows, hold.count, [taken]).attempt(
      draft,
      lapsesAt(hold, state),
    );
    state = draft.peek(limit.rows[0]);
    return { at, count: hold.count - rest, state };
  });
  lastForeseen.set(lapses, { limit, from, foreseen });
  return foreseen;
}

/** The most lapses that a page is told of. */
const MOST_SHOWN = 20;

/** The lapses of a key that a page is told of. @param state the key's bucket now. */
export async function lapsesToShow(
  context: Context,
  { limit, sum }: HoldingLimit,
  state: Pick<RateLimitSnapshot, "value" | "ts" | "used" | "closedUntil" | "now">,
): Promise<LapsingTokens[]> {
  const lapses = await lapsesAhead(context, { limit, sum });
  const { now, closedUntil } = state;
  const row =
    closedUntil === undefined || closedUntil <= now
      ? rowOfTokens(limit.part, state)
      : { used: CLOSED, ts: closedUntil };
  return foresee(limit, lapses, row)
    .filter(({ count }) => count > 0)
    .slice(0, MOST_SHOWN)
    .map(({ at, count }) => ({ at: Math.ceil(Math.max(now, at)), count }));
}
