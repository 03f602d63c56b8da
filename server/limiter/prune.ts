/** Deletes the rows of limits that are full again. A missing row means a full limit. */
import { type RateLimitConfig, shardConfig } from "../../core/config.js";
import { validateConfig } from "../../core/validate-config.js";
import type { PruneOptions } from "./limiter-options.js";
import { pruneByList } from "../store/prune-by-list.js";
import { type Decision, type PruneTerms, type RateLimitStore, rowId } from "../store/store.js";
import { unsupported } from "./unsupported.js";

/** How long a row must have been full, ms, because the clocks of other servers may be behind. */
const SKEW = 60_000;

export interface PruneContext {
  store: RateLimitStore;
  configs: ReadonlyMap<string, RateLimitConfig>;
  clock(): number;
  /** Bounds how long one page may take. */
  bound<TResult>(work: () => Promise<TResult>): Promise<TResult>;
}

/** @returns how many rows were deleted. */
export async function prune(
  { store, configs, clock, bound }: PruneContext,
  options: PruneOptions,
): Promise<number> {
  const parts = partsOf(configs, options);
  const [name] = parts.keys();
  if (name === undefined) return 0;
  if (clock === store.clock) {
    // A store learns the database's clock from what it reads. Before that, the clock is that of this
    // machine, and if it is ahead, rows would look full that are not.
    await bound(() => store.apply([readNothing(name)]));
  }
  const terms: PruneTerms = { configs: parts, before: clock() - SKEW };
  const pages = pagesOf(store, terms)[Symbol.asyncIterator]();
  let deleted = 0;
  for (;;) {
    const page = await bound(() => pages.next());
    if (page.done === true) return deleted;
    deleted += page.value;
  }
}

function readNothing(name: string): Decision<void> {
  return { rows: [rowId(name, "", 0)], readOnly: true, decide: () => ({ result: undefined }) };
}

/**
 * @throws RateLimitConfigError when the store cannot prune, or one of the configs is not valid.
 */
export function checkPrune(
  { store, configs }: Pick<PruneContext, "store" | "configs">,
  options: PruneOptions,
): void {
  partsOf(configs, options);
  if (store.prune === undefined && store.list === undefined) throw unsupported(store, "prune");
}

function pagesOf(store: RateLimitStore, terms: PruneTerms): AsyncIterable<number> {
  if (store.prune !== undefined) return store.prune(terms);
  const { list } = store;
  if (list === undefined) throw unsupported(store, "prune");
  return pruneByList({ apply: (...args) => store.apply(...args), list: list.bind(store) }, terms);
}

function partsOf(
  configs: ReadonlyMap<string, RateLimitConfig>,
  { alsoConfigs = {} }: PruneOptions,
): PruneTerms["configs"] {
  const parts = new Map<string, readonly RateLimitConfig[]>();
  for (const name of new Set([...configs.keys(), ...Object.keys(alsoConfigs)])) {
    const known = configs.get(name);
    const others = alsoConfigs[name] ?? [];
    for (const config of others) validateConfig(config, `alsoConfigs.${name}`);
    const all = known === undefined ? others : [known, ...others];
    // Without a config, nothing says when the rows are full.
    if (all.length > 0) parts.set(name, all.map(shardConfig));
  }
  return parts;
}
