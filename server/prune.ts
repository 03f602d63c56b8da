/** Deletes the rows of limits that are full again. A missing row means a full limit. */
import { calculateRateLimit } from "../core/calculate.js";
import { capacityOf, type RateLimitConfig, shardConfig } from "../core/config.js";
import { withStart } from "../core/phase.js";
import { validateConfig } from "../core/validate-config.js";
import type { PruneOptions } from "./limiter-types.js";
import type { Decision, RateLimitStore, RowId } from "./store/store.js";
import { unsupported } from "./unsupported.js";
import type { Executor } from "./with-deadline.js";

/** How long a row must have been full, ms, because the clocks of other servers may be behind. */
const SKEW = 60_000;
/** Rows read per round trip. */
const PAGE = 500;

export interface PruneContext {
  store: RateLimitStore;
  configs: ReadonlyMap<string, RateLimitConfig>;
  clock(): number;
  executor: Executor;
}

/** @returns how many rows were deleted. */
export async function prune(
  { store, configs, clock, executor }: PruneContext,
  { alsoConfigs = {} }: PruneOptions,
): Promise<number> {
  if (store.list === undefined) throw unsupported(store, "prune");
  let deleted = 0;
  for (const name of new Set([...configs.keys(), ...Object.keys(alsoConfigs)])) {
    const known = configs.get(name);
    const others = alsoConfigs[name] ?? [];
    for (const config of others) validateConfig(config, `alsoConfigs.${name}`);
    const all = [...(known ? [known] : []), ...others];
    // Without a config, nothing says when the rows are full.
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
      const dropped = await executor.apply(page.map(dropWhenFull));
      deleted += dropped.filter(Boolean).length;
    } while (page.length === PAGE);
  }
  return deleted;
}
