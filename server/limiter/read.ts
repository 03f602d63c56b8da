/** `getValue` and `snapshots`: reads that consume nothing. */
import { calculateRateLimit, type RateLimitState } from "../../core/calculate.js";
import { type Bucket, shardConfig } from "../../core/config.js";
import { fullestShards, sumShards } from "../../core/shards.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { shownConfig, shownState } from "../../core/with-calendar.js";
import type { KeyOptions, LimitValue } from "./call-options.js";
import { allRows } from "./choose-shards.js";
import type { Context, Environment } from "./context.js";
import { ClaimDecision, type Draft } from "./draft.js";
import { KEY_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { withHeld } from "./with-held.js";

export async function getValue(
  { resolve, apply, environment, leases }: Context,
  name: string,
  options: KeyOptions = {},
): Promise<LimitValue> {
  rejectUnknownOptions(options, KEY_OPTIONS, "getValue()");
  const limit = resolve(name, options);
  const [state] = await apply([readState(limit, environment, leases)]);
  const { value, ts } = calculateRateLimit(state!, limit.config, state!.now);
  const config = shownConfig(limit.config, value, state!.now);
  return { value, ts, config, ...heldIn(state!) };
}

export async function snapshots<TName extends string>(
  { resolve, apply, environment, leases }: Context,
  items: readonly (KeyOptions & { name: TName })[],
): Promise<RateLimitSnapshot<TName>[]> {
  const limits = items.map((item) => resolve(item.name, item));
  const states = await apply(limits.map((limit) => readState(limit, environment, leases)));
  return states.map((state, i) => {
    return snapshotOf(items[i]!.name, limits[i]!.config, state);
  });
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
    config: shownConfig(config, least, now),
    ...shownState(state, config, now),
    ...(rows && { fullest: rows }),
  };
}

/** The tokens held, of a limit that has holds. */
export function heldIn({ held }: Pick<ReadState, "held">): { held?: number } {
  return held === undefined ? {} : { held };
}

type ReadState = RateLimitState & Pick<RateLimitSnapshot, "fullest" | "held" | "now">;

/** Reads a limit: its row and the blocks of this process, or the sum of its shards. */
export function readState(
  limit: ResolvedLimit,
  { clock }: Pick<Environment, "clock">,
  leases: Context["leases"],
): ClaimDecision<ReadState> {
  const { config } = limit;
  const { shards = 1 } = config;
  const own = allRows(limit);
  const sum = limit.held?.[1];
  const rows = sum === undefined ? own : [...own, sum];
  const claim = {
    rows,
    attempt(draft: Draft, now: number) {
      const states = own.map((row) => draft.peek(row));
      const held = sum && { held: draft.peek(sum)?.value ?? 0 };
      const [only] = states;
      const { value, ts } = shards === 1 && only ? only : sumShards(states, config, now);
      const fullest = shards > 1 && { fullest: fullestShards(states, config, now) };
      return { value: withHeld(leases, limit, value), ts, ...fullest, ...held, now };
    },
  };
  return new ClaimDecision(claim, clock, true);
}
