/**
 * The id of a holder, by which a later call takes its slot over. The row has room for 30 bits of the id.
 * So two ids of one key count as the same id once in 10^9 pairs. At the worst, a call then loses its
 * slot, and has to start again.
 */
import { RateLimitInputError } from "../../../core/errors.js";
import { hash } from "../../../core/hash.js";
import { MAX_NONCE } from "../../../core/rows/slot.js";

/** The longest id, UTF-16 code units. */
const LONGEST = 500;

/** @throws RateLimitInputError for a value that is no id. */
export function validateHolder(holder: unknown): asserts holder is string {
  if (typeof holder === "string" && holder.length > 0 && holder.length <= LONGEST) return;
  const got = typeof holder === "string" ? `${holder.length} characters` : typeof holder;
  const message = `holder must be a text of 1 to ${LONGEST} characters, got ${got}`;
  throw new RateLimitInputError("holder", message);
}

/** The nonce of an id, from 1 to {@link MAX_NONCE}. The nonce is the same in every process. */
export function nonceOfHolder(holder: string): number {
  return 1 + (hash(holder) % MAX_NONCE);
}
