/**
 * The phases that all processes of a bucket go through together: the bucket fills, a few calls take
 * blocks, the row refills in silence, and then all callers call at once. In the last phase, blocks that
 * are too large, or live for too long, grant too much.
 */
import type { RateLimitConfig } from "../../server/index.js";
import { createRandom } from "../simulation/random.js";

export type Phase = "idle" | "slow" | "still" | "burst";

/** The phase of all callers of a bucket at an instant, ms, and when that phase ends. */
export function phaseAt(
  { rate, period, capacity = rate, lease }: RateLimitConfig,
  at: number,
): { phase: Phase; until: number } {
  const leaseMs = lease?.ms ?? 0;
  const full = (capacity / rate) * Number(period);
  const cycle = 1.5 * full + 2.5 * leaseMs;
  const begun = Math.floor(at / cycle) * cycle;
  const random = createRandom(begun);
  let until = begun;
  for (const [phase, ms] of [
    ["idle", (0.7 + 0.4 * random.next()) * full],
    ["slow", (0.5 + random.next()) * leaseMs],
    ["still", (0.2 + 0.7 * random.next()) * leaseMs],
  ] as const) {
    until += ms;
    if (at < until) return { phase, until };
  }
  return { phase: "burst", until: begun + cycle };
}
