/** The rows of a key as they are, and how they are written back as they were. */
import type { RowState } from "./change-log.js";
import type { OverrideAccess } from "./override-operations.js";
import { limitNameOf, rowNamesOf } from "./override-row.js";
import { kindOfRow } from "./override-rule.js";
import { PLACES } from "./overrides-by-name.js";

export interface StatesOptions {
  access: Pick<OverrideAccess, "readOf" | "change">;
  clock(): number;
}

/** The rows of a key that are in force, by the name of the row, in the order in which they were set. */
export async function statesOf(
  { access, clock }: StatesOptions,
  name: string,
  key = "",
): Promise<Map<string, RowState>> {
  const rows = await access.readOf({ names: rowNamesOf(name), key });
  const now = clock();
  return new Map(
    rows
      .filter((row) => row.key === key && limitNameOf(row) === name && now < row.until)
      .toSorted((a, b) => a.setAt - b.setAt)
      .map((row): [string, RowState] => [row.name, [row.name, row.rule, row.until, row.setAt]]),
  );
}

/**
 * Writes rows back as they were, and deletes those that were not there. A row that is written is later than
 * all others, so the ones that lay over it are written after it.
 */
export async function restore(
  options: StatesOptions,
  name: string,
  key: string | undefined,
  rows: ReadonlyMap<string, RowState | undefined>,
): Promise<void> {
  const { access, clock } = options;
  const present = await statesOf(options, name, key);
  const now = clock();
  const back = [...rows.values()].flatMap((state) => (state && now < state[2] ? [state] : []));
  const over = [...present.values()].filter(
    (state) => !rows.has(state[0]) && back.some((each) => liesOver(state, each)),
  );
  const written = new Map(
    [...back, ...over].toSorted((a, b) => a[3] - b[3]).map((state) => [state[0], state]),
  );
  for (const row of rows.keys()) {
    if (written.has(row)) continue;
    await access.change({ id: { name: row, key: key ?? "" }, row: undefined });
  }
  for (const [row, rule, until] of written.values()) {
    const id = { name: row, key: key ?? "" };
    await access.change({ id, row: { ...id, rule, until, setAt: now } });
  }
}

/** Whether one of two overrides of a key counts before the other. */
function liesOver(a: RowState, b: RowState): boolean {
  return placeOf(a) === placeOf(b) && a[3] > b[3];
}

/** `undefined` for a row that another version has written. */
function placeOf([name, rule, until, setAt]: RowState) {
  const kind = kindOfRow({ name, key: "", rule, until, setAt });
  return kind && PLACES[kind];
}
