/**
 * A change of plan: the rows of a limit, from one config to another one. What was used stays used.
 *
 * 1. By `from`, the rows hold so many tokens now. What they lack of its capacity was used.
 * 2. By `to`, they hold its capacity without what was used.
 *
 * So 5 used of 5 become 45 left of 50, and a missing row, of which nothing was used, stays full.
 *
 * - **What does not fit is owed.** 20 used of 50 are 15 more than 5, so the rows hold -15. It is a
 *   debt like that of a reservation, and never deeper than `to` allows one (`maxReserved`), unless the
 *   rows were deeper in debt before. With `maxReserved: 0` they hold 0: nothing until `to` brings
 *   tokens, and then all of them. Less than that would be forgotten too early: a caller who changes to
 *   and fro would get the difference each time.
 * - **Windows.** Where both configs have the same windows, the rows keep theirs. Otherwise they are in
 *   the window of `to` that contains this instant: what was used of an hour then counts for the whole
 *   day, and what was used of a day for this hour alone.
 * - **A closed bucket** (`blockFor`) opens when it would have opened, or with the first window of `to`
 *   after that.
 * - **A row that holds more than `from` ever does** was last used by another config, so what was used
 *   is not known. It stays as it is.
 */
import { closedState, isClosed } from "./block.js";
import { firstWhole, heldAt, type RateLimitState } from "./calculate.js";
import { type Bucket, capacityOf, reservableOf, shardConfig, toleranceOf } from "./config.js";
import { sameConfig } from "./same-config.js";
import { sumShards } from "./shards.js";
import { windowAfter, windowAt } from "./windows.js";

type Row = RateLimitState | null;

/**
 * The states of all rows of a limit after the change: of a missing shard, too, because all shards are
 * left with the same value. `undefined` where nothing changes.
 *
 * @param rows one per shard of the config that has more of them.
 * @param now epoch ms.
 * @returns one per row; `null` for a shard that `to` does not have.
 */
export function changedRows(
  rows: readonly Row[],
  from: Bucket,
  to: Bucket,
  now: number,
): Row[] | undefined {
  const used = rows.slice(0, from.shards ?? 1);
  if (sameConfig(from, to) || used.every((row) => row === null)) return undefined;
  const part = shardConfig(from);
  const most = capacityOf(part) + toleranceOf(part);
  if (used.some((row) => row !== null && row.value > most)) return undefined;
  const next = changedState(used, from, to, now);
  return rows.map((_, shard) => (shard < (to.shards ?? 1) ? next : null));
}

/** The state of each shard of `to`. */
function changedState(rows: readonly Row[], from: Bucket, to: Bucket, now: number): RateLimitState {
  // Rows are from the future where the clock of this server is behind.
  const at = Math.max(now, ...rows.map((row) => row?.ts ?? now));
  const [first = null] = rows;
  const held = sumShards(rows, from, at);
  const part = shardConfig(to);
  const ts = to.kind !== "fixed window" ? at : windowIn(to, from, held, at);
  if (rows.length === 1 && isClosed(first, from, at)) {
    const blockFor = openAfter(first!, from, at);
    return closedState({ value: capacityOf(part), ts }, { ...part, blockFor }, at)!;
  }
  const left = capacityOf(to) - (capacityOf(from) - held.value);
  // No -0, which not every store keeps.
  const least = Math.min(held.value, 0 - reservableOf(to));
  return { value: Math.max(left, least) / (to.shards ?? 1), ts };
}

/** The start of the window that the rows are in after the change. */
function windowIn(
  to: Extract<Bucket, { kind: "fixed window" }>,
  from: Bucket,
  { ts }: RateLimitState,
  at: number,
): number {
  const isSame = (["kind", "period", "start", "timeZone", "weekStart"] as const).every(
    (option) => from[option] === to[option],
  );
  return isSame ? ts : windowAt(to, at);
}

/** After how many ms a closed bucket opens. */
function openAfter(row: RateLimitState, config: Bucket, at: number): number {
  const held = heldAt(row, config, at);
  const periods = -held.value / config.rate;
  if (config.kind !== "fixed window") return periods * config.period;
  const guess = windowAfter(config, held.ts, Math.max(1, Math.ceil(periods))) - at;
  return firstWhole(Math.ceil(guess), (ms) => !isClosed(row, config, at + ms));
}
