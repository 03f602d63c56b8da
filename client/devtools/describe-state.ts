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
  formatRest,
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

/** Such as `2 of 3`, `0 of 3, and owes 1` and `1 of 2 free`. */
export function describeValue(left: Left): string {
  const { value, config } = left;
  const bound = boundOf(config);
  const of = bound === undefined ? "" : ` of ${bound}`;
  if (config.slots !== undefined) return `${Math.max(0, value)}${of} free`;
  if (isClosed(left)) return `0${of}, closed`;
  if (value >= 0) return `${formatTokens(value)}${of}`;
  return `0${of}, and owes ${formatMissing(-value)}`;
}

/** What is left in whole numbers, below 0 for what is owed: a line has little room. */
export function describeLeft(left: Left): string {
  const isDebt = left.value < 0 && !isClosed(left) && left.config.slots === undefined;
  if (isDebt) return `\u2212${Math.ceil(-left.value - 1e-6)}`;
  return String(Math.floor(isClosed(left) ? 0 : Math.max(0, left.value + 1e-6)));
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
  if (end !== undefined)
    return `not read for ${age(ts).replace(/ ago$/, "")}, because it is blocked`;
  // The row says until when, and not since when.
  if (closedUntil > time.now + time.offset) return "closed";
  const tokens = rowText(snapshot);
  if (shards > 1) return `${tokens} in ${shards} shards`;
  if (config.kind === "fixed window") return `${tokens}, in the window that began ${age(ts)}`;
  // Without a row, the server reports a full state. Nothing tells such a state from a full row.
  if (isFullAt(rowOfTokens(config, snapshot), config, ts)) {
    return `${isCredits(config) ? "0 credits" : "full"}, or there is no row yet`;
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
  if (next === Infinity) return "a later one than the server has listed";
  return `${began}, the next one begins ${formatWait(next - at)}`;
}

export interface StatusText {
  state: "ok" | "denied" | "unknown";
  /** A sentence, without its full stop. */
  text: string;
  /** The rest of the wait, such as `7 s`; `undefined` where no wait is known to help. */
  wait: string | undefined;
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
  if (!checked || !snapshot) {
    return { state: "unknown", text: "Unknown until the server tells of it", wait: undefined };
  }
  const { retryAt, config } = checked;
  const call = `A call of ${formatCount(count, unitOf(config))} would be`;
  if (retryAt === undefined) {
    const why = isShadowed(checked, count) ? ", only because this limit denies no call" : "";
    return { state: "ok", text: `${call} granted${why}`, wait: undefined };
  }
  return { state: "denied", ...denialText(call, checked, retryAt, count, now) };
}

function denialText(
  call: string,
  { value: left, config, now: serverNow }: CheckedRateLimit,
  retryAt: number,
  count: number,
  now: number,
): Pick<StatusText, "text" | "wait"> {
  const end = blockedUntil(config);
  if (end === Infinity) return { text: "Blocked without an end", wait: undefined };
  const opens = (end ?? -Infinity) - (serverNow - now);
  if (opens > now) {
    const wait = formatRest(opens - now);
    return { text: `Blocked until ${formatInstant(opens)} (${wait})`, wait };
  }
  const { slots, shards = 1 } = config;
  // A call sees two shards, and can get no more than they hold.
  const most = mostHeld(config);
  if (count > most) {
    const holder = shards > 2 ? "two shards hold" : "the limit holds";
    const why = slots === undefined ? `${holder} ${formatTokens(most)}` : `there are ${slots}`;
    return { text: `${call} denied always, because ${why} at most`, wait: undefined };
  }
  if (isCredits(config)) {
    const missing = formatMissing(-left);
    const are = missing === "1" ? " is" : "s are";
    return { text: `${call} denied: ${missing} more credit${are} needed`, wait: undefined };
  }
  if (retryAt === Infinity) {
    return { text: `${call} denied in all windows that the server has listed`, wait: undefined };
  }
  const wait = formatRest(retryAt - now);
  if (slots !== undefined) {
    // A holder that still runs renews its slot, so the wait is no promise.
    return { text: `${call} denied (${wait}, if a slot is not renewed)`, wait: undefined };
  }
  const by = shards > 1 && left >= 0 ? " by two of the shards" : "";
  return { text: `${call} denied${by} (${wait})`, wait };
}

/** Whether the call would be denied if the limit were no shadow. */
function isShadowed({ config, now, value }: CheckedRateLimit, count: number): boolean {
  if (!config.shadow) return false;
  const { shadow: _, ...strict } = config;
  const before = { value: value + count, ts: now, now, name: "", config: strict as ShownConfig };
  return predict(before, 0, now, count).retryAt !== undefined;
}
