/** `getValue` and `snapshots`: reads that consume nothing. */
import { calculateRateLimit, type RateLimitState } from "../../../core/calculate.js";
import { tokensOf, usedAt } from "../../../core/rows/reading.js";
import type { Row } from "../../../core/rows/row.js";
import { type Bucket, shardConfig } from "../../../core/config.js";
import { fullestShards, sumShards } from "../../../core/shards.js";
import { isLapsed } from "../../../core/rows/hold.js";
import type { RateLimitSnapshot } from "../../../core/snapshot.js";
import { shownConfig, shownState } from "../../../core/with-calendar.js";
import type { KeyOptions } from "../types/call.js";
import type { LimitValue } from "../types/read.js";
import { allRows } from "../claims/choose-shards.js";
import type { Context } from "../context/context.js";
import type { Environment } from "../claims/environment.js";
import { ClaimDecision, type Draft } from "../claims/draft.js";
import { endLapsedHolds } from "../holds/end-lapsed.js";
import { lapsesToShow } from "../holds/lapses.js";
import { KEY_OPTIONS } from "../types/call.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import { withBlocks } from "../limits/with-blocks.js";

export async function getValue(
  context: Context,
  name: string,
  options: KeyOptions = {},
): Promise<LimitValue> {
  rejectUnknownOptions(options, KEY_OPTIONS, "getValue()");
  const limit = context.resolve(name, options);
  const [read] = (await readLimits(context, [limit])) as [Read];
  const { state } = read;
  const { value, ts } = calculateRateLimit(state, limit.config, state.now);
  const config = shownConfig(limit.config, value, state.now, ts);
  return { value, ts, config, ...heldIn(state) };
}

export async function snapshots<TName extends string>(
  context: Context,
  items: readonly (KeyOptions & { name: TName })[],
): Promise<RateLimitSnapshot<TName>[]> {
  const limits = items.map((item) => context.resolve(item.name, item));
  const reads = await readLimits(context, limits);
  const shown = reads.map(({ state }, i) => {
    const { config, plan } = limits[i]!;
    const snapshot = snapshotOf(items[i]!.name, config, state);
    return plan === undefined ? snapshot : { ...snapshot, plan };
  });
  return inTurns(reads, async ({ state, sum }, i) => {
    if (!sum) return shown[i]!;
    const lapses = await lapsesToShow(context, { limit: limits[i]!, sum }, state);
    return lapses.length === 0 ? shown[i]! : { ...shown[i]!, lapses };
  });
}

/** How many keys are looked at at the same time, so that pages leave connections to calls. */
const AT_ONCE = 4;

/** Calls `of` for each item, for a few items at the same time. */
async function inTurns<TItem, TResult>(
  items: readonly TItem[],
  of: (item: TItem, index: number) => Promise<TResult>,
): Promise<TResult[]> {
  const results: TResult[] = [];
  const open = items.entries();
  const work = async () => {
    for (const [i, item] of open) results[i] = await of(item, i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** A limit as it was read. */
export interface Read {
  readonly state: ReadState;
  /** The row that adds up the limit's open holds; `null` where there is none. */
  readonly sum: Row | null;
}

/** Reads limits. Lapsed holds end first, so that the result shows the tokens that a call would get. */
export async function readLimits(
  context: Context,
  limits: readonly ResolvedLimit[],
): Promise<Read[]> {
  const { apply, environment, leases } = context;
  const read = (some: readonly ResolvedLimit[]) =>
    apply(some.map((limit) => readState(limit, environment, leases)));
  const reads = await read(limits);
  const due = limits.flatMap((limit, i) => {
    const { sum, state } = reads[i]!;
    return isLapsed(sum, state.now) ? [{ limit, sum, i }] : [];
  });
  if (due.length === 0) return reads;
  const ended = await inTurns(due, (each) => endLapsedHolds(context, each));
  const changed = due.filter((_, i) => ended[i]);
  const again = await read(changed.map(({ limit }) => limit));
  for (const [i, each] of changed.entries()) reads[each.i] = again[i]!;
  return reads;
}

function snapshotOf<TName extends string>(
  name: TName,
  config: Bucket,
  state: ReadState,
): RateLimitSnapshot<TName> {
  if (config.windows === undefined) return { name, config, ...state };
  const { now, fullest } = state;
  const part = shardConfig(config);
  const rows = fullest?.map((row) => shownState(row, part, now));
  const least = Math.min(state.value, ...(rows ?? []).map(({ value }) => value));
  return {
    name,
    config: shownConfig(config, least, now, state.ts),
    ...shownState(state, config, now),
    ...(rows && { fullest: rows }),
  };
}

/** The tokens that are held, for a limit that has holds. */
export function heldIn({ held }: Pick<ReadState, "held">): { held?: number } {
  return held === undefined ? {} : { held };
}

type ReadState = RateLimitState &
  Pick<RateLimitSnapshot, "closedUntil" | "fullest" | "held" | "now">;

/** Reads a limit: its row and the blocks of this process, or the sum of its shards. */
export function readState(
  limit: ResolvedLimit,
  { clock }: Pick<Environment, "clock">,
  leases: Context["leases"],
): ClaimDecision<Read> {
  const { config } = limit;
  const { shards = 1 } = config;
  const own = allRows(limit);
  const sum = limit.holdRows?.[1];
  const rows = sum === undefined ? own : [...own, sum];
  const claim = {
    rows,
    attempt(draft: Draft, now: number) {
      const states = own.map((row) => draft.peek(row));
      const added = sum === undefined ? null : draft.peek(sum);
      const held = sum && { held: added?.used ?? 0 };
      const [only] = states;
      const state =
        shards === 1
          ? tokensOf(only ?? usedAt(null, config, now), config)
          : sumShards(states, config, now);
      const value = withBlocks(leases, limit, state.value);
      const tokens = value === state.value ? state : { value, ts: state.ts };
      const fullest = shards > 1 && { fullest: fullestShards(states, config, now) };
      // The answer of an override does not depend on holds.
      const read = { ...tokens, ...fullest, ...held, now };
      return { state: read, sum: limit.answer === undefined ? added : null };
    },
  };
  return new ClaimDecision(claim, clock, true);
}
