/** Tells snapshots from other data: what arrives, or is in a cache, may be of another version. */
import { longestPeriod } from "../core/config.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";

/** Whether predictions can use the value. If a number were missing, each status would be a new object. */
export function isSnapshot(given: unknown): given is RateLimitSnapshot {
  const snapshot = Object(given) as RateLimitSnapshot;
  const { now, config, fullest = [snapshot], lapses = [], closedUntil = now } = snapshot;
  const { kind, rate, capacity = rate, shards = 1, starts = [] } = Object(config) as typeof config;
  const period = longestPeriod(Object(config) as typeof config);
  return (
    /^(token bucket|fixed window|credits)$/.test(kind) &&
    [starts, fullest, lapses].every(Array.isArray) &&
    [
      now,
      closedUntil,
      rate,
      period,
      capacity,
      shards,
      ...starts,
      // The prediction needs at least one row.
      ...[snapshot, fullest[0], ...fullest].flatMap((row) => [row?.value, row?.ts]),
      ...lapses.flatMap((lapse) => [lapse?.at, lapse?.count]),
    ].every(Number.isFinite) &&
    // A rate of 0 is that of credits.
    rate >= 0 &&
    Math.min(period, shards) > 0
  );
}
