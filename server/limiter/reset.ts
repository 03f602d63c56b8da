/** `reset`: fills a bucket. A row that does not exist is full, whatever the config of its limit. */
import type { Decision, RowId } from "../store/store.js";
import type { KeyOptions } from "./call-options.js";
import { allRows } from "./choose-shards.js";
import type { Context } from "./context.js";
import { KEY_OPTIONS, rejectUnknownOptions } from "./known-options.js";

export async function reset(
  { resolve, apply, onChange, endLeases }: Context,
  name: string,
  options: KeyOptions = {},
): Promise<void> {
  rejectUnknownOptions(options, KEY_OPTIONS, "reset()");
  const limit = resolve(name, options);
  // The shards are independent rows, so each is reset by a decision of its own.
  endLeases(limit.rows[0]);
  // Also if it fails, because the answer alone may have been lost.
  await apply(allRows(limit).map(deleteRow)).finally(() => endLeases(limit.rows[0]));
  onChange(limit.name, limit.key);
}

/** The result is whether there was a row to delete. */
export function deleteRow(row: RowId): Decision<boolean> {
  return {
    rows: [row],
    decide: ([state]) => (state ? { result: true, writes: [null] } : { result: false }),
  };
}
