/** Says in words what is left of a limit, what the server's row has, and how the limit answers. */
import { stateAt } from "../../core/calculate.js";
import { isFullAt } from "../../core/rows/reading.js";
import type { ShownConfig } from "../../core/config.js";
import { mostHeld } from "../../core/count.js";
import { rowOfTokens } from "../../core/rows/bucket.js";
import { isCredits } from "../../core/rows/credits.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { windowAfter } from "../../core/windows.js";
import { predict } from "../prediction.js";
import type { CheckedRateLimit } from "../types.js";
import { blockedUntil, boundOf, unitOf } from "./describe-config.js";
import {
  formatAge,
  formatCount,
  formatInstant,
  formatMissing,
  formatTokens,
  formatWait,
} from "./format.js";

/** The time, as it is known for one limit. */
export interface KnownTime {
  /** This machine's time, epoch ms. */
  now: number;
  /** The server's time minus this machine's, ms; `NaN` while nothing is known. */
  offset: number;
  /** Whether the server's clock may be further on than `offset` says. */
  isAtLeast: boolean;
}

/** The tokens left at an instant; with `closedUntil` while the bucket is closed. */
type Left = Pick<CheckedRateLimit, "value" | "config" | "closedUntil">;

/** Such as `2 of 3`, `0 of 3, owes 1` and `1 of 2 free`. */
export function describeValue(left: Left): string {
  const { value, config } = left;
  const bound = boundOf(config);
  const of = bound === undefined ? "" : ` of ${bound}`;
  if (config.slots !== undefined) return `${Math.max(0, value)}${of} free`;
  if (isClosed(left)) return `0${of}, closed`;
  if (value >= 0) return `${formatTokens(value)}${of}`;
  return `0${of}, owes ${formatMissing(-value)}`;
}

/** Says what the last snapshot tells of the limit's rows, and when they were written. */
export function describeRow(snapshot: RateLimitSnapshot, time: KnownTime): string {
  const { value, ts, config, closedUntil = -Infinity } = snapshot;
  const { slots, shards = 1 } = config;
  const age = (at: number) => formatAge(time.now + time.offset - at, time.isAtLeast);
  if (slots !== undefined) {
    const taken = slots - value;
    return taken <= 0 ? "no slot is taken" : `${taken} of ${slots} taken, last renewed ${age(ts)}`;
  }
  const end = blockedUntil(config);
  if (end !== undefined) return `not read while blocked, since ${age(ts).replace(/ ago$/, "")}`;
  // The row says until when, and not since when.
  if (closedUntil > time.now + time.offset) return "closed";
  const tokens = rowText(snapshot);
  if (shards > 1) return `${tokens} in ${shards} shards`;
  if (config.kind === "fixed window") return `${tokens}, window began ${age(ts)}`;
  // Without a row, the server reports a full state. Nothing tells such a state from a full row.
  if (isFullAt(rowOfTokens(config, snapshot), config, ts)) {
    return isCredits(config) ? "0 credits, or not there" : "full, or not there";
  }
  // The state of a bucket that was closed is the state in which it opened.
  return `${tokens}, ${closedUntil > -Infinity ? "opened" : "written"} ${age(ts)}`;
}

/**
 * Whether a denial has closed the bucket. The snapshot that a page derives from such a denial has a
 * `value` below 0, which is no debt.
 */
export function isClosed({ value, config, closedUntil }: Left): boolean {
  return closedUntil !== undefined || (value < 0 && config.blockFor !== undefined);
}

function rowText({ value, config }: Omit<Left, "closedUntil">): string {
  if (isClosed({ value, config })) return "closed";
  if (value >= 0) return formatCount(formatTokens(value), unitOf(config));
  return `owes ${formatCount(formatMissing(-value), unitOf(config))}`;
}

/** The window at this instant of the server's clock, and the next one; `undefined` without windows. */
export function describeWindow(
  { config, ...row }: RateLimitSnapshot,
  { now, offset, isAtLeast }: KnownTime,
): string | undefined {
  if (config.kind !== "fixed window" || config.slots !== undefined || Number.isNaN(offset)) {
    return undefined;
  }
  if (blockedUntil(config) !== undefined) return undefined;
  const at = now + offset;
  const { ts } = stateAt(row, config, at);
  const next = windowAfter(config, ts, 1);
  const began =
    ts > at ? `begins ${formatWait(ts - at)}` : `began ${formatAge(at - ts, isAtLeast)}`;
  // Of a calendar, a page knows only the windows that the server has listed.
  if (next === Infinity) return "later than those that the server has listed";
  return `${began}, the next one comes ${formatWait(next - at)}`;
}

export interface StatusText {
  state: "ok" | "denied" | "unknown";
  text: string;
}

/**
 * The answer to a call for `count` tokens.
 *
 * @param snapshot the last snapshot of the server; `undefined` while there is none.
 */
export function describeStatus(
  checked: CheckedRateLimit | undefined,
  snapshot: RateLimitSnapshot | undefined,
  count: number,
  { now }: KnownTime,
): StatusText {
  if (!checked || !snapshot) return { state: "unknown", text: "unknown" };
  const { retryAt, value, config } = checked;
  if (retryAt === undefined) return { state: "ok", text: shadowText(checked, count) };
  return {
    state: "denied",
    text: denialText(value, retryAt, count, config, checked.now - now, now),
  };
}

function denialText(
  left: number,
  retryAt: number,
  count: number,
  config: ShownConfig,
  offset: number,
  now: number,
): string {
  const end = blockedUntil(config);
  if (end === Infinity) return "blocked, without an end";
  const wait = formatWait(retryAt - now);
  if (end !== undefined && end - offset > now) {
    return `blocked, until ${formatInstant(end - offset)} (${formatWait(end - offset - now)})`;
  }
  const { slots, shards = 1 } = config;
  // A call sees two shards, and can get no more than they hold.
  const most = mostHeld(config);
  if (count > most) {
    if (slots !== undefined) return `never: ${formatCount(slots, "slot")} at most`;
    return `never: ${shards > 2 ? "two shards hold" : "holds"} ${formatTokens(most)} at most`;
  }
  if (isCredits(config)) {
    const missing = formatMissing(-left);
    return `denied: ${missing} more credit${missing === "1" ? " is" : "s are"} needed`;
  }
  if (retryAt === Infinity) return "denied, for longer than the windows that are known";
  // A holder that still runs renews its slot.
  if (slots !== undefined) return `denied, a slot is free ${wait} if it is not renewed`;
  if (shards > 1 && left >= 0) return `denied by two of the shards, ok ${wait}`;
  return `denied, ok ${wait}`;
}

/** The answer if the limit were no shadow. */
function shadowText({ config, now, value }: CheckedRateLimit, count: number): string {
  if (!config.shadow) return "ok";
  const { shadow: _, ...strict } = config;
  const before = { value: value + count, ts: now, now, name: "", config: strict as ShownConfig };
  const { retryAt } = predict(before, 0, now, count);
  return retryAt === undefined ? "ok" : "ok, because it denies no call: too few are left";
}
