/** The queue of reserved prompts: when a prompt runs, and what its bucket has taken back. */
import { setTimeout } from "node:timers/promises";
import { calculateRateLimit, SECOND, type ShownConfig } from "trpc-rate-limit";
import type { LimitValue } from "trpc-rate-limit/server";

/** The answer of the limit. */
export interface Reservation {
  value: number;
  ts: number;
  retryAfter?: number | undefined;
}

interface Turn {
  reservation: Reservation;
  /** The config of the plan, which changes while the prompt waits. */
  config(): Promise<ShownConfig>;
  clock(): number;
  signal: AbortSignal | undefined;
}

/** Waits for the prompt's turn. Yields the ms until then, at first and whenever they change. */
export async function* untilTurn({ reservation, config, clock, signal }: Turn) {
  const promised = clock() + (reservation.retryAfter ?? 0);
  let known = Infinity;
  for (;;) {
    const now = clock();
    // A better plan repays the reservation sooner. A worse plan does not break the promise.
    const { retryAfter = 0 } = calculateRateLimit(reservation, await config(), now);
    const startAt = Math.min(promised, now + retryAfter);
    if (startAt <= now) return;
    if (known - startAt > SECOND / 10) yield (known = startAt) - now;
    await setTimeout(Math.min(startAt - now, SECOND), undefined, { signal });
  }
}

/** Whole tokens that a bucket has got between two instants, beyond what was refilled. */
export function gained(before: LimitValue, after: LimitValue): number {
  const { value } = calculateRateLimit(before, after.config, after.ts);
  return Math.max(0, Math.round(after.value - value));
}
