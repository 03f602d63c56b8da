/**
 * Pretences: snapshots that an observer gets in place of the server's. A pretence changes nothing on the
 * server, and ends with the server's next snapshot of the limit.
 */
import { stateAt } from "../../core/calculate.js";
import type { ShownConfig } from "../../core/config.js";
import { mostHeld } from "../../core/count.js";
import { SECOND } from "../../core/durations.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { snapshotOfDenial } from "../denial.js";
import { boundOf } from "./describe-config.js";

export type Pretence = "drained" | "refilled" | "denied for 10 s";

/** How long a pretended denial is, ms. */
export const DENIED_FOR = 10 * SECOND;
/** The number that "refill" adds to credits without a bound. */
const SOME_CREDITS = 100;

/**
 * The snapshot that a page is told.
 *
 * @param snapshot the last snapshot of the server.
 * @param serverNow the server's clock, epoch ms.
 * @param counts the counts that the page follows.
 */
export function pretend(
  pretence: Pretence,
  snapshot: RateLimitSnapshot,
  serverNow: number,
  counts: readonly number[],
): RateLimitSnapshot {
  // A pretence that is older than the last snapshot would be taken for a late one.
  const now = Math.max(snapshot.now, Math.ceil(serverNow));
  const { config } = snapshot;
  const base = { ...snapshot, now, fullest: undefined, closedUntil: undefined };
  if (pretence === "refilled") {
    const before = stateAt(snapshot, config, now);
    const value = boundOf(config) ?? before.value + SOME_CREDITS;
    return { ...base, ts: Math.min(before.ts, now), value, config: withSlots(config, []) };
  }
  if (pretence === "drained" || config.kind === "credits") {
    const { slots = 0, period } = config;
    const ends = Array.from({ length: slots }, () => now + Number(period));
    const { ts } = slots > 0 ? { ts: now } : stateAt(snapshot, config, now);
    return { ...base, ts, value: 0, config: withSlots(config, ends) };
  }
  const until = now + DENIED_FOR;
  const least = Math.min(...counts.filter((count) => count > 0 && count <= mostHeld(config)));
  const count = least < Infinity ? least : 1;
  if (config.kind !== "fixed window") {
    const { name, key } = snapshot;
    const facts = { name, value: 0, retryAfter: DENIED_FOR, config, now };
    return snapshotOfDenial({ name, ...(key !== undefined && { key }) }, facts, count);
  }
  // The window that has begun, and as many windows that begin at `until` as the call needs.
  const windows = config.slots ?? Math.ceil(count / config.rate);
  const starts = Array.from({ length: windows }, () => until);
  if (config.slots === undefined) starts.unshift(now);
  return { ...base, ts: now, value: 0, config: { ...config, starts } };
}

/** The pretences that would show something. Shadows and exempt callers are denied nothing. */
export function pretencesFor(config: ShownConfig): Pretence[] {
  const isDenying = !config.shadow && mostHeld(config) > 0;
  return isDenying ? ["drained", "refilled", "denied for 10 s"] : ["drained", "refilled"];
}

function withSlots(config: ShownConfig, ends: readonly number[]): ShownConfig {
  return config.slots === undefined ? config : { ...config, starts: ends };
}
