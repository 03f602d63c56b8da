/** Deletes the rows of limits that are full again. A missing row means a full limit. */
import type { Bucket } from "../../../core/config.js";
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import { ownConfig, SIDE_ROWS } from "../../../core/rows/kinds.js";
import { sideName, type SideRows, validateSideName } from "../../../core/rows/side-rows.js";
import { SPANS } from "../../../core/rows/span.js";
import { USAGE } from "../../../core/rows/usage.js";
import type { PlanTable } from "../limits/plans/plan-table.js";
import type { Overriding } from "../limits/overrides/open-overrides.js";
import { pruneByList } from "../../store/prune-by-list.js";
import { type Decision, type PruneTerms, type RateLimitStore, rowId } from "../../store/store.js";
import { unsupported } from "../types/unsupported.js";

/** How long a row must have been full, ms, because the clocks of other servers may be behind. */
const SKEW = 60_000;

export interface PruneContext {
  store: RateLimitStore;
  /** The configs of limits of tokens. */
  configs: ReadonlyMap<string, Bucket>;
  slotConfigs: ReadonlyMap<string, ConcurrencyConfig>;
  plans: PlanTable;
  /** How long ids are remembered where a limit does not set `onceFor`, ms. */
  onceFor: number;
  clock(): number;
  /** Whether the clock was given to the limiter. If not, it is the clock of the store. */
  hasOwnClock: boolean;
  /** Absent without overrides. */
  overriding?: Pick<Overriding, "allConfigs" | "removeEnded"> | undefined;
  /** Ends the lapsed holds of a limit. Resolves with the number of holds. */
  endHolds(name: string): Promise<number>;
  /** Bounds how long one page may take. */
  bound<TResult>(work: () => Promise<TResult>): Promise<TResult>;
}

/**
 * @param withUsage whether rows of usage are looked at. There may be many more of them than rows of
 * limits.
 * @returns how many rows were deleted.
 */
export async function prune(context: PruneContext, withUsage: boolean): Promise<number> {
  const { store, configs, slotConfigs, onceFor, clock, bound, overriding, endHolds } = context;
  const ofTokens = allConfigs(context);
  const all = new Map<string, readonly (Bucket | ConcurrencyConfig)[]>(
    (await overriding?.allConfigs(ofTokens)) ?? ofTokens,
  );
  // The slots of all plans have one `ttl`, and the rows of the largest plan include those of all plans.
  for (const [name, config] of slotConfigs) all.set(name, [config]);
  const kinds = withUsage ? SIDE_ROWS : SIDE_ROWS.filter((rows) => !OF_USAGE.has(rows));
  const parts = partsOf(all, onceFor, kinds);
  const [name] = parts.keys();
  if (name === undefined) return 0;
  if (!context.hasOwnClock && store.clock !== undefined) {
    // A store learns the database's clock from its first read. Before that, the store's clock is the
    // clock of this machine. If that clock is ahead, rows that are not full would look full.
    await bound(() => store.apply([readNothing(name)]));
  }
  const terms: PruneTerms = { configs: parts, before: clock() - SKEW };
  await overriding?.removeEnded(terms.before);
  let deleted = 0;
  // The holds end before their markers are deleted, because a marker says which tokens may come back.
  for (const [of, { holds }] of configs) {
    if (holds) deleted += await endHolds(of);
  }
  const pages = pagesOf(store, terms)[Symbol.asyncIterator]();
  for (;;) {
    const page = await bound(() => pages.next());
    if (page.done === true) return deleted;
    deleted += page.value;
  }
}

const OF_USAGE: ReadonlySet<SideRows> = new Set([USAGE, SPANS]);

function readNothing(name: string): Decision<void> {
  return { rows: [rowId(name, "", 0)], readOnly: true, decide: () => ({ result: undefined }) };
}

/** @throws RateLimitConfigError when the store cannot prune. */
export function checkPrune(store: RateLimitStore): void {
  if (store.prune === undefined && store.list === undefined) throw unsupported(store, "prune");
}

/** @throws RateLimitConfigError for a name that leaves too little room for the names of its side rows. */
export function validateSideNames(name: string, config: Bucket | ConcurrencyConfig): void {
  for (const rows of SIDE_ROWS) {
    const option = rows.optionOf(config);
    if (option !== undefined) validateSideName(rows, name, option);
  }
}

function pagesOf(store: RateLimitStore, terms: PruneTerms): AsyncIterable<number> {
  if (store.prune !== undefined) return store.prune(terms);
  const { list } = store;
  if (list === undefined) throw unsupported(store, "prune");
  return pruneByList({ apply: (...args) => store.apply(...args), list: list.bind(store) }, terms);
}

/** By the name of a limit: its own config, or the configs of its plans. */
function allConfigs({
  configs,
  plans,
}: Pick<PruneContext, "configs" | "plans">): Map<string, readonly Bucket[]> {
  return new Map([...configs].map(([name, own]) => [name, plans.bucketsOf(name) ?? [own]]));
}

/**
 * The configs by which single rows are full: one shard's part of each config, and the configs of the side
 * rows.
 */
function partsOf(
  byName: ReadonlyMap<string, readonly (Bucket | ConcurrencyConfig)[]>,
  onceFor: number,
  kinds: readonly SideRows[],
): PruneTerms["configs"] {
  const parts = new Map<string, readonly Bucket[]>();
  for (const [name, all] of byName) {
    parts.set(name, all.map(ownConfig));
    for (const rows of kinds) {
      const full = all.flatMap((config) => rows.configOf(config, onceFor) ?? []);
      if (full.length > 0) parts.set(sideName(rows, name), full);
    }
  }
  return parts;
}
