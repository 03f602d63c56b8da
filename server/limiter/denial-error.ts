/** The error of a denied call, about one limit or several. */
import type { RateLimitResult } from "../../core/decide.js";
import { type RateLimitDenial, RateLimitError } from "../../core/errors.js";
import type { LimitRequest } from "./limit-request.js";

export function denialError(
  { limit: { name, config } }: LimitRequest,
  { retryAfter = 0, value }: RateLimitResult,
  now: number,
  denials?: readonly RateLimitDenial[],
): RateLimitError {
  const data = { kind: "RateLimited", name, retryAfter, value, config, now } as const;
  return new RateLimitError(denials ? { ...data, denials } : data);
}
