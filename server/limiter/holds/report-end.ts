/**
 * Tells of the end of a hold. The decision that ended the hold has counted the usage, in the row of the
 * key.
 */
import { report, type Telling } from "../context/context.js";
import type { EndedHold, HeldLimit } from "../claims/end-hold.js";

export function reportEnd(
  context: Telling,
  { limit, context: of }: Pick<HeldLimit, "limit" | "context">,
  ended: EndedHold,
): void {
  const more = ended.ok ? ended.used - ended.count : -(ended.back ?? 0);
  if (more < 0) context.usage.add(limit, { givenBack: -more }, true);
  if (!ended.ok || more <= 0) return;
  // Tokens that were used beyond the estimate are reported as a `charge`.
  const result = { ok: true as const, value: ended.value, ts: context.environment.clock() };
  report(context, "charge", { limit, count: more, context: of }, result, false, "in its row");
}
