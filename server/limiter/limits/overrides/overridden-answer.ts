/** The answer to every call of a limit that an override or a plan exempts or blocks. */
import { capacityOf, type Bucket } from "../../../../core/config.js";
import type { RateLimitResult } from "../../../../core/decide.js";
import type { OverriddenAnswer, ResolvedLimit } from "../resolved-limit.js";
import { waitUntil } from "./override-rule.js";

/**
 * An exempt caller finds a full bucket each time. A blocked caller waits until the override ends. The row
 * may have too few tokens then: its level is not known here.
 */
export function answerAt(
  { kind, until }: OverriddenAnswer,
  config: Bucket,
  now: number,
): RateLimitResult {
  // `limitAll` also asks for the answer of a later instant.
  const isBlocked = kind === "blocked" && (until === undefined || now < until);
  if (isBlocked) return { ok: false, retryAfter: waitUntil(until, now), value: 0 };
  return { ok: true, value: capacityOf(config), ts: now };
}

/**
 * The limit without its answers: an override may answer over a plan that does. `reset`, `refund` and `credit`
 * change its rows also while calls do not.
 */
export function beneathAnswer(limit: ResolvedLimit): ResolvedLimit {
  let beneath = limit;
  while (beneath.answer !== undefined) beneath = beneath.answer.beneath;
  return beneath;
}
