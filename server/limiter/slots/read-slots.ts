/** The reads of a limit of slots: `check`, `getValue`, `snapshots` and an item of `list`. */
import { slotsConfig, slotsHeld, waitForSlot } from "../../../core/rows/slot.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type { RateLimitSnapshot } from "../../../core/snapshot.js";
import type { LimitValue } from "../types/read.js";
import { ClaimDecision, type Draft } from "../claims/draft.js";
import type { SlotsLimit } from "./slots-limit.js";

/** The fields of a snapshot besides its name. */
export type SlotsState = Pick<RateLimitSnapshot, "value" | "ts" | "config" | "now">;

/**
 * Reads the slots of one key. `ts` is when a slot was last written, and not the present instant, so that
 * a snapshot only changes with the slots.
 */
export function readSlots(
  { counted: rows, ttl, slots, seen }: SlotsLimit,
  clock: () => number,
): ClaimDecision<SlotsState> {
  const claim = {
    rows,
    attempt(draft: Draft, now: number) {
      const states = rows.map((row, shard) => (seen[shard] = draft.peek(row)));
      const { value, ts, ends } = slotsHeld(states, ttl, now, slots.slots);
      return { value, ts, config: slotsConfig(slots, ends), now };
    },
  };
  return new ClaimDecision(claim, clock, true);
}

/** The answer that `enter` would give to a caller that does not wait. */
export function checkOf({ value, config, now }: SlotsState, { ttl }: SlotsLimit): RateLimitResult {
  if (value >= 1) return { ok: true, value, ts: now };
  const { starts = [] } = config as { starts?: readonly number[] };
  return { ok: false, retryAfter: waitForSlot(starts, ttl, now), value };
}

export function valueOf({ value, now, config }: SlotsState): LimitValue {
  return { value, ts: now, config };
}
