/** Checks holds: at each commit, and after a simulation. */
import { HELD, HOLDS } from "../../core/rows/hold.js";
import { bucketKeyOf, MARKERS } from "../../core/rows/marker.js";
import { problemOfRows } from "../histories/hold-rows.js";
import { checkHolds } from "../histories/hold-verdict.js";
import { knownClockError } from "./invariants.js";
import type { ModelTransaction } from "./model/rows.js";
import type { World } from "./simulate.js";
import { HOLD_LIMITS } from "./workloads/holds.js";

const PREFIXES = [HOLDS.prefix, HELD.prefix, MARKERS.prefix];

/** At each commit, the holds of the changed buckets add up, and have their markers. */
export function checkHoldRows({ problems }: World, { rows, writes }: ModelTransaction): void {
  const keys = new Set<string>();
  for (const id of writes.keys()) {
    const { name, key } = partsOf(id);
    if (name.startsWith(HOLDS.prefix) || name.startsWith(HELD.prefix)) keys.add(bucketKeyOf(key));
  }
  if (keys.size === 0) return;
  const own = rows.all().flatMap(([id, state]) => {
    const { name, key, shard } = partsOf(id);
    const isOwn = keys.has(bucketKeyOf(key)) && PREFIXES.some((prefix) => name.startsWith(prefix));
    return isOwn ? [{ name, key, shard, ...state }] : [];
  });
  const problem = problemOfRows(own);
  if (problem !== undefined) problems.push(problem);
}

/** Each hold has ended once, in its time, and each bucket has lost what was used. */
export function checkHolding(world: World): void {
  const { holding, problems, databaseClockError, faults, hasLost, network } = world;
  if (hasLost) return;
  const isSet = databaseClockError !== 0 || faults.counts.has("database clock set");
  const { problems: found } = checkHolds(holding.calls, {
    limits: HOLD_LIMITS.checked,
    // If the clock was set, any hold may have lapsed or not.
    clockError: isSet ? 1e9 : knownClockError(world),
    left: isSet ? new Map() : holding.left,
  });
  problems.push(...found);
  if (isSet) return;
  for (const [bucket] of holding.left) {
    const [name, ...key] = bucket.split(" ");
    if (HOLD_LIMITS.checked[name as "window"].refills) continue;
    const row = [`${HELD.prefix}${name}`, key.join(" "), 0].join("\0");
    const held = network.server.rows.newest(row);
    if (held !== null) problems.push(`${bucket} still holds ${held.used} tokens at the end`);
  }
}

function partsOf(id: string): { name: string; key: string; shard: number } {
  const [name, key, shard] = id.split("\0") as [string, string, string];
  return { name, key, shard: Number(shard) };
}
