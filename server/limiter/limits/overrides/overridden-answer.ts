/** The answer to every call of a limit that an override has exempted or blocked. */
import { capacityOf, type Bucket } from "../../../../core/config.js";
import type { RateLimitResult } from "../../../../core/decide.js";
import type { OverriddenAnswer, ResolvedLimit } from "../resolved-limit.js";
import { waitUntil } from "./override-rule.js";

/**
 * An exempt caller finds a full bucket each time. A blocked one waits until the override ends: what
 * the row holds then is not known.
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

/** The limit whose rows are changed by what is no call: `reset`, `refund` and `credit`. */
export function beneathAnswer(limit: ResolvedLimit): ResolvedLimit {
  return limit.answer?.beneath ?? limit;
}
