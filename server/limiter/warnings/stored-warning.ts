/** A warning as a row, and as listeners get it. */
import { readWarningKey, WARNINGS } from "../../../core/rows/warning.js";
import type { Row } from "../../../core/rows/row.js";
import type { FoundRow, RowId } from "../../store/store.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import type { RateLimitWarning } from "../types/warnings.js";

/** The warning of a row; `undefined` for a row that is none. */
export function warningOf(row: RowId, { used }: Row): RateLimitWarning | undefined {
  const read = readWarningKey(row.key);
  if (read === undefined) return undefined;
  const { key, at, nonce, of } = read;
  return {
    id: `${at.toString(36)}-${nonce}-${row.shard}`,
    name: row.name.slice(WARNINGS.prefix.length),
    key: key === "" ? undefined : key,
    level: row.shard / 1000,
    used,
    of,
    at,
  };
}

/**
 * A decision by which one process begins to tell a warning: no other process tells it before `until`.
 * Answers whether it is this process that tells it.
 */
export function claimOf(
  { row, state }: FoundRow,
  until: number,
  clock: () => number,
): ClaimDecision<boolean> {
  const claim: Claim<boolean> = {
    rows: [row],
    attempt(draft) {
      const now = draft.read(row);
      if (now === null || now.ts !== state.ts) return false;
      draft.write(row, { used: now.used, ts: until });
      return true;
    },
  };
  return new ClaimDecision(claim, clock);
}
