/**
 * Ends the lapsed holds of all keys. Only a denied call looks for lapsed holds, so a key without denials
 * would keep its holds for ever.
 */
import { HOLDS, isLapsed } from "../../../core/rows/hold.js";
import { bucketKeyOf } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import { MAX_ROWS } from "../../store/max-rows.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import type { Context, Telling } from "../context/context.js";
import { type EndedHold, type HeldLimit, rowsToEnd } from "../claims/end-hold.js";
import { lapse } from "../holds/end-lapsed.js";
import { reportEnd } from "../holds/report-end.js";
import { markerOfHold } from "../holds/find-holds.js";

/** Holds that are looked for at a time: a database without an index by time reads all of them. */
const FOUND = 5000;
/** Holds per trip: a decision for each has five rows. */
const PAGE = MAX_ROWS / 5;

export interface PruneHoldsContext
  extends Telling, Pick<Context, "apply" | "earliest" | "onceFor"> {
  clock(): number;
  readonly name: string;
  /** The limit of a stored key, with its override. */
  limitOf(storedKey: string): ResolvedLimit;
}

/** @returns how many holds were ended. */
export async function pruneHolds(context: PruneHoldsContext): Promise<number> {
  const { earliest, onceFor, clock, name, limitOf } = context;
  let ended = 0;
  for (;;) {
    const found = await earliest(sideName(HOLDS, name), "", FOUND);
    const now = clock();
    const lapsed = found
      .filter(({ state }) => isLapsed(state, now))
      .map(({ row }) => {
        const limit = beneathAnswer(limitOf(bucketKeyOf(row.key)));
        return { limit, marker: markerOfHold(limit, row, onceFor, now) };
      });
    const before = ended;
    for (let from = 0; from < lapsed.length; from += PAGE) {
      ended += await endPage(context, lapsed.slice(from, from + PAGE));
    }
    if (lapsed.length < FOUND || ended === before) return ended;
  }
}

async function endPage(context: PruneHoldsContext, page: readonly HeldLimit[]): Promise<number> {
  const { apply, onChange, clock, name } = context;
  let ended = 0;
  const results = await apply(page.map((each) => new ClaimDecision(lapseClaim(each), clock)));
  for (const [i, result] of results.entries()) {
    if (result === undefined) continue;
    ended++;
    onChange(name, page[i]!.limit.key);
    reportEnd(context, page[i]!, result);
  }
  return ended;
}

function lapseClaim(held: HeldLimit): Claim<EndedHold | undefined> {
  return {
    rows: rowsToEnd(held),
    attempt: (draft, now) => lapse(draft, held, now),
  };
}
