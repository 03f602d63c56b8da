/** Rows as they are stored, for the admin router. */
import { wasClosed } from "../../../core/rows/bucket.js";
import { readRows } from "../../store/earliest-by-list.js";
import { rowId, type RowId } from "../../store/store.js";
import type { Context } from "./context.js";

/** A row as it is stored. */
export interface StoredRow {
  readonly shard: number;
  readonly used: number;
  readonly ts: number;
}

/** The rows that exist. */
export async function storedRows(
  { apply }: Pick<Context, "apply">,
  rows: readonly RowId[],
): Promise<StoredRow[]> {
  const found = await readRows(apply, rows);
  return found.map(({ row: { shard }, state: { used, ts } }) => ({ shard, used, ts }));
}

/**
 * When the rows of keys were last written, by stored key, `""` for the shared bucket. Only for limits
 * without shards. A closed bucket is left out, because its row says when it opens.
 */
export async function writtenAt(
  { apply }: Pick<Context, "apply">,
  name: string,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const found = await readRows(
    apply,
    keys.map((key) => rowId(name, key, 0)),
  );
  const open = found.filter(({ state }) => !wasClosed(state));
  return new Map(open.map(({ row, state }) => [row.key, state.ts]));
}
