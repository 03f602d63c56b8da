/** Ends the lapsed holds of all keys. A key whose calls are never denied would keep them for ever. */
import { capacityOf } from "../../../core/config.js";
import { holdOf, HOLDS, isLapsed } from "../../../core/rows/hold.js";
import { bucketKeyOf } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { MAX_ROWS } from "../list-rows.js";
import { type Claim, ClaimDecision } from "../draft.js";
import { beneathAnswer } from "../overrides/overridden-answer.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import type { Context } from "../context.js";
import type { RowId } from "../../store/store.js";
import { endHold, type HeldLimit, rowsToEnd } from "./end-hold.js";
import { markerOfHold, readEach } from "./find-holds.js";

/** Rows per page: a decision for each has four. */
const PAGE = MAX_ROWS / 4;

export interface PruneHoldsContext extends Pick<
  Context,
  "apply" | "list" | "onceFor" | "onChange"
> {
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
        return { limit, marker: markerOfHold(limit, row, onceFor) };
      });
    const results = await apply(lapsed.map((each) => new ClaimDecision(lapseClaim(each), clock)));
    for (const [i, isEnded] of results.entries()) {
      if (!isEnded) continue;
      ended++;
      onChange(name, lapsed[i]!.limit.key);
    }
    if (page.length < PAGE) return ended;
    after = page.at(-1)!;
  }
}

function lapseClaim(held: HeldLimit): Claim<boolean> {
  const { limit, marker } = held;
  const [row] = limit.rows;
  return {
    rows: rowsToEnd(held),
    attempt(draft, now) {
      const state = draft.peek(marker.hold!);
      if (state === null) return false;
      // Calls may have a config that holds more. To give back by a smaller one would take that away.
      const bucket = draft.peek(row);
      const isLarger = bucket !== null && bucket.value > capacityOf(limit.part);
      if (isLarger && holdOf(state).atLapse === "release") return false;
      return endHold(draft, held, { kind: "lapse" }, now).ok;
    },
  };
}
