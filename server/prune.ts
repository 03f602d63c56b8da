/** Deletes the rows of limits that are full again, which is what a missing row means anyway. */
import { calculateRateLimit } from "../core/calculate.js";
import { capacityOf, type RateLimitConfig, shardConfig, validateConfig } from "../core/config.js";
import { RateLimitConfigError } from "../core/errors.js";
import { withStart } from "../core/phase.js";
import type { PruneOptions } from "./limiter-types.js";
import type { Decision, RateLimitStore, RowId } from "./store/store.js";

/** How much longer than full a row must have been, ms: other servers' clocks may be behind. */
const SKEW = 60_000;
/** Rows looked at per round trip. */
const PAGE = 500;

export interface PruneContext {
  store: RateLimitStore;
  configs: ReadonlyMap<string, RateLimitConfig>;
  clock(): number;
  apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]>;
}

/** @returns how many rows were deleted. */
export async function prune(
  { store, configs, clock, apply }: PruneContext,
  { alsoConfigs = {} }: PruneOptions,
): Promise<number> {
  if (store.list === undefined) {
    throw new RateLimitConfigError("store", "a store without it", "one that supports prune");
  }
  let deleted = 0;
  for (const name of new Set([...configs.keys(), ...Object.keys(alsoConfigs)])) {
    const known = configs.get(name);
    const others = alsoConfigs[name] ?? [];
    for (const config of others) validateConfig(config, `alsoConfigs.${name}`);
    const all = [...(known ? [known] : []), ...others];
    // When its rows are full is then not known.
    if (all.length === 0) continue;
    const dropWhenFull = (row: RowId): Decision<boolean> => ({
      rows: [row],
      decide([state]) {
        const isFull = all.every((config) => {
          const part = withStart(shardConfig(config), name, row.key === "" ? undefined : row.key);
          const { value } = calculateRateLimit(state ?? null, part, clock() - SKEW);
          return value >= capacityOf(part);
        });
        return state && isFull ? { result: true, writes: [null] } : { result: false };
      },
    });
    let page: RowId[] = [];
    do {
      page = await store.list(name, page.at(-1), PAGE);
      const dropped = await apply(page.map(dropWhenFull));
      deleted += dropped.filter(Boolean).length;
    } while (page.length === PAGE);
  }
  return deleted;
}
