/** Rows as they are stored, for those who look at a limiter from behind. */
import { rowId, type RowId } from "../store/store.js";
import type { Context } from "./context.js";
import { readEach } from "./holds/find-holds.js";

/** A row as it is stored. */
export interface StoredRow {
  readonly shard: number;
  readonly value: number;
  readonly ts: number;
}

/** The rows that exist. */
export async function storedRows(
  { apply }: Pick<Context, "apply">,
  rows: readonly RowId[],
): Promise<StoredRow[]> {
  const found = await readEach(apply, rows);
  return found.map(({ row: { shard }, state: { value, ts } }) => ({ shard, value, ts }));
}

/** By stored key, `""` for the shared bucket: when its row was last written. Only of limits without shards. */
export async function writtenAt(
  { apply }: Pick<Context, "apply">,
  name: string,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const found = await readEach(
    apply,
    keys.map((key) => rowId(name, key, 0)),
  );
  return new Map(found.map(({ row, state }) => [row.key, state.ts]));
}
