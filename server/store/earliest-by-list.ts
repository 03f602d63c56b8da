/**
 * `RateLimitStore.earliest` by listing and reading rows: for a store without `earliest`, and for rows
 * that are in no index of the store.
 */
import type { Row } from "../../core/rows/row.js";
import type { Decision, FoundRow, RateLimitStore, RowId } from "./store.js";

/** Rows per round trip. */
const PAGE = 1000;

/** `RateLimitStore.apply`, called with one list of decisions and no `call`. */
type Apply = <TResult>(decisions: readonly Decision<TResult>[]) => Promise<TResult[]>;

/** Lists all rows whose key begins with `prefix`, and reads them. */
export async function earliestByList(
  apply: Apply,
  list: NonNullable<RateLimitStore["list"]>,
  name: string,
  prefix: string,
  count: number,
): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  let after: RowId | undefined;
  for (;;) {
    const page = await list(name, after, PAGE, prefix);
    // A collation that sorts by the rules of a language may put other rows between these rows.
    const own = page.filter(({ key }) => key.startsWith(prefix));
    found.push(...(await readRows(apply, own)));
    if (page.length < PAGE) return byTime(found, count);
    after = page.at(-1)!;
  }
}

/** The first `count` of these rows, by their `ts`. */
export function byTime(rows: readonly FoundRow[], count: number): FoundRow[] {
  return [...rows].sort((a, b) => a.state.ts - b.state.ts).slice(0, count);
}

/** The states of the rows that exist. */
export async function readRows(apply: Apply, rows: readonly RowId[]): Promise<FoundRow[]> {
  if (rows.length === 0) return [];
  const reading: Decision<readonly (Row | null)[]> = {
    rows,
    readOnly: true,
    decide: (states) => ({ result: [...states] }),
  };
  const [states] = (await apply([reading])) as [readonly (Row | null)[]];
  return rows.flatMap((row, i) => {
    const state = states[i];
    return state ? [{ row, state }] : [];
  });
}
