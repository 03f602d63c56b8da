/** Ends the lapsed holds of all keys. A key whose calls are never denied would keep them for ever. */
import { capacityOf } from "../../../core/config.js";
import { holdOf, HOLDS, isLapsed } from "../../../core/rows/hold.js";
import { bucketKeyOf } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { MAX_ROWS } from "../list-rows.js";
import { type Claim, ClaimDecision } from "../draft.js";
import { beneathAnswer } from "../overrides/overridden-answer.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import type { Context, Telling } from "../context.js";
import type { RowId } from "../../store/store.js";
import { type EndedHold, endHold, type HeldLimit, LAPSE, rowsToEnd } from "./end-hold.js";
import { reportEnd } from "./report-end.js";
import { markerOfHold, readEach } from "./find-holds.js";

/** Rows per page: a decision for each has four. */
const PAGE = MAX_ROWS / 4;

export interface PruneHoldsContext extends Telling, Pick<Context, "apply" | "list" | "onceFor"> {
  clock(): number;
  readonly name: string;
  /** The limit of a stored key, with its override. */
  limitOf(storedKey: string): ResolvedLimit;
}

/** @returns how many holds were ended. */
export async function pruneHolds(context: PruneHoldsContext): Promise<number> {
  const { apply, list, onceFor, onChange, clock, name, limitOf } = context;
  let ended = 0;
  let after: RowId | undefined;
  for (;;) {
    const page = await list(sideName(HOLDS, name), after, PAGE);
    const holds = await readEach(apply, page);
    const now = clock();
    const lapsed = holds
      .filter(({ state }) => isLapsed(state, now))
      .map(({ row }) => {
        const limit = beneathAnswer(limitOf(bucketKeyOf(row.key)));
        return { limit, marker: markerOfHold(limit, row, onceFor, now) };
      });
    const results = await apply(lapsed.map((each) => new ClaimDecision(lapseClaim(each), clock)));
    for (const [i, result] of results.entries()) {
      if (!result.ok) continue;
      ended++;
      onChange(name, lapsed[i]!.limit.key);
      reportEnd(context, lapsed[i]!, result);
    }
    if (page.length < PAGE) return ended;
    after = page.at(-1)!;
  }
}

const LEFT: EndedHold = { ok: false, reason: "unknown" };

function lapseClaim(held: HeldLimit): Claim<EndedHold> {
  const { limit, marker } = held;
  const [row] = limit.rows;
  return {
    rows: rowsToEnd(held),
    attempt(draft, now) {
      const state = draft.peek(marker.hold!);
      if (state === null) return LEFT;
      // Calls may have a config that holds more. To give back by a smaller one would take that away.
      const bucket = draft.peek(row);
      const isLarger = bucket !== null && bucket.value > capacityOf(limit.part);
      if (isLarger && holdOf(state).atLapse === "release") return LEFT;
      return endHold(draft, held, LAPSE, now);
    },
  };
}
