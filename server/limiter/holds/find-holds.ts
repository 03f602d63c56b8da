/** Finds the open holds of a key. Their rows follow from no call, so they are listed. */
import type { RateLimitState } from "../../../core/calculate.js";
import { type Hold, holdOf, HOLDS } from "../../../core/rows/hold.js";
import { markerKey } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import type { Decision, RowId } from "../../store/store.js";
import type { Context } from "../context.js";
import { type Marker, markerRow } from "../markers.js";
import type { ResolvedLimit } from "../resolve-limit.js";

/** Rows per round trip. */
const PAGE = 1000;

export interface FoundHold {
  readonly hold: Hold;
  readonly marker: Marker;
  /** The id, hashed where there is a `hashKey`. */
  readonly id: string;
}

type Finding = Pick<Context, "apply" | "list" | "onceFor" | "environment">;

/** The open holds of one key, those that lapse first before the others. */
export async function findHolds(
  { apply, list, onceFor, environment }: Finding,
  limit: ResolvedLimit,
): Promise<FoundHold[]> {
  const { name, rows } = limit;
  const prefix = markerKey(rows[0].key);
  const found: FoundHold[] = [];
  let after: RowId | undefined;
  for (;;) {
    const page = await list(sideName(HOLDS, name), after, PAGE, prefix);
    // Other rows may stand between them, by the rules of a language.
    const own = page.filter(({ key }) => key.startsWith(prefix));
    for (const { row, state } of await readEach(apply, own)) {
      const marker = markerOfHold(limit, row, onceFor, environment.clock());
      found.push({ hold: holdOf(state), marker, id: row.key.slice(prefix.length) });
    }
    if (page.length < PAGE) return found.sort((a, b) => a.hold.until - b.hold.until);
    after = page.at(-1)!;
  }
}

/** The marker beside a hold that was found by its row. */
export function markerOfHold(
  { name, onceFor: own }: Pick<ResolvedLimit, "name" | "onceFor">,
  hold: RowId,
  ofLimiter: number,
  countedAt: number,
): Marker {
  const onceFor = own ?? ofLimiter;
  return { row: markerRow(name, hold.key, onceFor, "take"), onceFor, hold, countedAt };
}

/** The states of the rows that exist. */
export async function readEach(
  apply: Context["apply"],
  rows: readonly RowId[],
): Promise<{ row: RowId; state: RateLimitState }[]> {
  if (rows.length === 0) return [];
  const reading: Decision<readonly (RateLimitState | null)[]> = {
    rows,
    readOnly: true,
    decide: (states) => ({ result: [...states] }),
  };
  const [states] = (await apply([reading])) as [readonly (RateLimitState | null)[]];
  return rows.flatMap((row, i) => {
    const state = states[i];
    return state ? [{ row, state }] : [];
  });
}
