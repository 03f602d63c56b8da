/**
 * `reset`: fills a bucket. A row that does not exist is full, whatever the config of its limit. Only
 * credits would be lost with their row.
 */
import { isCredits } from "../../core/credits.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { beneathAnswer } from "./overrides/overridden-answer.js";
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
  const limit = beneathAnswer(resolve(name, options));
  if (isCredits(limit.config)) throw unfillable(name);
  // The shards are independent rows, so each is reset by a decision of its own.
  endLeases(limit.rows[0]);
  // Also if it fails, because the answer alone may have been lost.
  const decisions =
    limit.counted === undefined ? allRows(limit).map(deleteRow) : [deleteTogether(limit.counted)];
  await apply(decisions).finally(() => endLeases(limit.rows[0]));
  onChange(limit.name, limit.key);
}

/** A bucket is never full without having its closings forgotten, too. */
function deleteTogether(rows: readonly RowId[]): Decision<boolean> {
  return {
    rows,
    decide(states) {
      const isThere = states.some((state) => state !== null);
      return isThere ? { result: true, writes: states.map(() => null) } : { result: false };
    },
  };
}

/** The result is whether there was a row to delete. */
export function deleteRow(row: RowId): Decision<boolean> {
  return {
    rows: [row],
    decide: ([state]) => (state ? { result: true, writes: [null] } : { result: false }),
  };
}

function unfillable(name: string): RateLimitConfigError {
  const message =
    `reset() does not go with the credits of "${name}": it fills a bucket, and would delete what was ` +
    "bought; use credit() to add, charge() to take, and forget(key) to delete";
  return new RateLimitConfigError("name", name, { message });
}
