/** The error of a denied call, about one limit or several. */
import { type Bucket, isNever } from "../../../core/config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { type DenialMessage, type RateLimitDenial, RateLimitError } from "../../../core/errors.js";
import { levelOf } from "../../../core/levels.js";
import { shownConfig } from "../../../core/with-calendar.js";
import type { ResolvedLimit } from "./resolved-limit.js";

/** A denial whose config is not shown yet. */
export type Denied = Omit<RateLimitDenial, "config"> & { config: Bucket };

/** @param message the application's own text, if there is one. */
export function denialError(
  message: DenialMessage | undefined,
  { limit: { name, config } }: { limit: Pick<ResolvedLimit, "name" | "config"> },
  { retryAfter = 0, value }: RateLimitResult,
  now: number,
  denials?: readonly Denied[],
): RateLimitError {
  const passes = isNever(retryAfter) ? now : now + retryAfter;
  const shown = (of: Bucket, left: number) => {
    const level = of.warnAt && levelOf(of, left);
    return { config: shownConfig(of, left, now, passes), ...(level !== undefined && { level }) };
  };
  const data = {
    kind: "RateLimited",
    name,
    retryAfter,
    value,
    ...shown(config, value),
    now,
  } as const;
  if (denials === undefined) return new RateLimitError(data, message);
  const all = denials.map((each) => ({ ...each, ...shown(each.config, each.value) }));
  return new RateLimitError({ ...data, denials: all }, message);
}
