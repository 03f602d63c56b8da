/**
 * `reset`: fills a bucket by deleting its rows. A missing row is a full bucket, whatever the config of
 * its limit. Only a balance of credits would be lost with its row.
 */
import { chargeRows } from "../../../core/charge.js";
import { usedAt } from "../../../core/rows/reading.js";
import { isCredits } from "../../../core/rows/credits.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import type { RowId } from "../../store/store.js";
import type { KeyOptions } from "../types/call.js";
import { allRows } from "../claims/choose-shards.js";
import type { Context } from "../context/context.js";
import type { StoredRow } from "../context/stored-rows.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
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
  // The shards are independent rows, with a decision each. A row and the count of its closings are
  // deleted together, so that no full bucket has old closings.
  const parts = limit.counted === undefined ? allRows(limit).map((row) => [row]) : [limit.counted];
  // End the leases also after a failure, because only the answer may have been lost.
  await apply(parts.map(deletion)).finally(() => endLeases(limit.rows[0]));
  onChange(limit.name, limit.key);
}

/**
 * Takes a reset back: writes the rows again that it has deleted. Where calls have used the bucket since,
 * what the old rows still say is used counts beside that, if need be as a debt.
 *
 * @param before the rows of the bucket before the reset.
 */
export async function undoReset(
  { apply, onChange, endLeases, environment: { clock } }: Context,
  given: ResolvedLimit,
  before: readonly StoredRow[],
): Promise<void> {
  const limit = beneathAnswer(given);
  const { part } = limit;
  const rows = allRows(limit).flatMap((row): [RowId, StoredRow][] => {
    const old = before.find(({ shard }) => shard === row.shard);
    return old === undefined ? [] : [[row, old]];
  });
  const decisions = rows.map(([row, { used, ts }]) => {
    const claim = {
      rows: [row],
      attempt(draft: Draft, now: number) {
        const state = draft.read(row);
        const isNew = state === null;
        const charged = () => chargeRows([state], part, now, usedAt({ used, ts }, part, now).used);
        draft.write(row, isNew ? { used, ts } : charged().next[0]!);
      },
    };
    return new ClaimDecision<void>(claim, clock);
  });
  endLeases(limit.rows[0]);
  await apply(decisions).finally(() => endLeases(limit.rows[0]));
  onChange(limit.name, limit.key);
}

/** A clock for deletions, which do not depend on the time. */
const anyTime = () => 0;

/** Deletes rows together. The result is whether any of the rows was there. */
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
