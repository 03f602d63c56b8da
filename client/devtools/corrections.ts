/** Whether the server told something else than the page had predicted, in words. */
import { longestPeriod, type ShownConfig } from "../../core/config.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { predict } from "../prediction.js";
import { textOf } from "../limit-entry.js";
import { describeConfig, unitOf } from "./describe-config.js";
import { describeValue, isClosed } from "./describe-state.js";
import { formatCount, formatTokens } from "./format.js";

/** How wrong a page may be about the time of a call, ms. The tokens that come in that time are no news. */
const DOUBT = 250;
/** A smaller difference is no news for a limit that counts whole tokens. */
const LEAST = 0.5;

/** @returns `undefined` where the prediction was right. */
export function correctionOf(
  before: RateLimitSnapshot,
  after: RateLimitSnapshot,
): string | undefined {
  const { config, now } = after;
  const [predicted, told] = [predict(before, 0, now, 0), predict(after, 0, now, 0)];
  if (textOf(before) !== textOf(after)) {
    return `${describeValue(told)}, because the limit has changed (${describeConfig(config)})`;
  }
  const [wasClosed, isNow] = [isClosed(predicted), isClosed(told)];
  // A denial says less about a bucket that it has closed than the server says right after the denial.
  const isFew = (wasClosed && isNow) || Math.abs(predicted.value - told.value) < doubtOf(config);
  if (isFew && wasClosed === isNow) return undefined;
  return `${describeValue(told)}, where the page predicted ${formatTokens(predicted.value)}`;
}

/** @returns what became of the tokens that calls hold; `undefined` where nothing did. */
export function holdsOf(before: RateLimitSnapshot, after: RateLimitSnapshot): string | undefined {
  const [was, is] = [before.held ?? 0, after.held ?? 0];
  if (was === is) return undefined;
  return is === 0
    ? "calls hold no tokens any more"
    : `calls hold ${formatCount(formatTokens(is), unitOf(after.config))} (before: ${formatTokens(was)})`;
}

function doubtOf(config: ShownConfig): number {
  // Windows bring their tokens at once, and both sides know when.
  if (config.kind === "fixed window") return LEAST;
  return Math.max(LEAST, (config.rate * DOUBT) / longestPeriod(config));
}
