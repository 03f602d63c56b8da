/**
 * `reset`: fills a bucket. A row that does not exist is full, whatever the config of its limit. Only
 * credits would be lost with their row.
 */
import { isCredits } from "../../../core/rows/credits.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import type { RowId } from "../../store/store.js";
import type { KeyOptions } from "../types/call.js";
import { allRows } from "../claims/choose-shards.js";
import type { Context } from "../context/context.js";
import { ClaimDecision, type Draft } from "../claims/draft.js";
import { KEY_OPTIONS } from "../types/call.js";
import { rejectUnknownOptions } from "../types/known-options.js";

export async function reset(
  { resolve, apply, onChange, endLeases }: Context,
  name: string,
  options: KeyOptions = {},
): Promise<void> {
  rejectUnknownOptions(options, KEY_OPTIONS, "reset()");
  const limit = beneathAnswer(resolve(name, options, false));
  if (isCredits(limit.config)) throw unfillable(name);
  endLeases(limit.rows[0]);
  // The shards are independent rows. A bucket is never full without having its closings forgotten, too.
  const parts = limit.counted === undefined ? allRows(limit).map((row) => [row]) : [limit.counted];
  // Also if it fails, because the answer alone may have been lost.
  await apply(parts.map(deletion)).finally(() => endLeases(limit.rows[0]));
  onChange(limit.name, limit.key);
}

/** What there is to delete does not depend on the time. */
const anyTime = () => 0;

/** Deletes rows together. The result is whether there was one. */
export function deletion(rows: readonly RowId[]): ClaimDecision<boolean> {
  const claim = {
    rows,
    attempt(draft: Draft) {
      const isThere = rows.map((row) => draft.read(row)).some((state) => state !== null);
      if (isThere) for (const row of rows) draft.write(row, null);
      return isThere;
    },
  };
  return new ClaimDecision(claim, anyTime);
}

function unfillable(name: string): RateLimitConfigError {
  const message =
    `reset() does not go with the credits of "${name}": it fills a bucket, and would delete what was ` +
    "bought; use credit() to add, charge() to take, and forget(key) to delete";
  return new RateLimitConfigError("name", name, { message });
}
