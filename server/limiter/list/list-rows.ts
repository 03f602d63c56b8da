/** The keys of a limit that have rows, in order, and the tokens in these rows; for the pages of `list`. */
import { calculateRateLimit } from "../../../core/calculate.js";
import type { Bucket } from "../../../core/config.js";
import { describe, RateLimitInputError } from "../../../core/errors.js";
import { shownConfig } from "../../../core/with-calendar.js";
import { problemOf } from "../../../core/validate-key.js";
import { LAST_SHARD, rowId, type RateLimitStore, type RowId } from "../../store/store.js";
import type { Context } from "../context/context.js";
import type { LimitItem } from "../types/list.js";
import type { Overriding } from "../limits/overrides/open-overrides.js";
import { heldIn, readLimits } from "../verbs/read.js";
import type { AskedPlans } from "../limits/plans/asked-plans.js";
import type { PlanTable } from "../limits/plans/plan-table.js";
import { ofPlan } from "../limits/limit-resolver.js";
import { type ResolvedLimit, resolveLimit } from "../limits/resolved-limit.js";
import type { Slots } from "../slots/create-slots.js";
import { MAX_ROWS } from "../../store/max-rows.js";
import { unsupported } from "../types/unsupported.js";

export interface ListContext {
  store: RateLimitStore;
  configs: ReadonlyMap<string, Bucket>;
  plans: PlanTable;
  /** Says the plans of keys; absent without a `plan` function, and where keys are hashed. */
  planOf?: Pick<AskedPlans, "of"> | undefined;
  /** The limits of slots, if there are any. */
  slots: Slots | undefined;
  clock(): number;
  executor: Context;
  leases: Context["leases"];
  /** Absent without overrides. */
  overriding?: Pick<Overriding, "applied" | "blockedKeys"> | undefined;
  /** Bounds one round trip. */
  bound<TResult>(work: () => Promise<TResult>): Promise<TResult>;
}

interface Configs {
  config: Bucket;
  inline?: Bucket | undefined;
  plan?: string | undefined;
}

/**
 * Resolves a key without the cache of resolved limits: a list of many keys would replace the limits in
 * use.
 */
export function limitOf(
  { overriding, plans }: Pick<ListContext, "overriding" | "plans">,
  name: string,
  stored: string,
  { config, inline, plan }: Configs,
): ResolvedLimit {
  const key = stored === "" ? undefined : stored;
  const limit =
    plan === undefined
      ? resolveLimit(name, key, key, config)
      : ofPlan(name, key, key, config, undefined, plan, plans.entry(name, plan));
  return overriding?.applied(limit, { config: inline, plan }) ?? limit;
}

/**
 * Resolves keys. Each key has its own plan, where the `plan` function says it and `list` is called
 * without a plan and a config.
 */
export async function limitsOf(
  context: ListContext,
  name: string,
  keys: readonly string[],
  configs: Configs,
): Promise<ResolvedLimit[]> {
  const { planOf, plans } = context;
  const isAsked = configs.inline === undefined && configs.plan === undefined && plans.has(name);
  if (planOf === undefined || !isAsked) {
    return keys.map((key) => limitOf(context, name, key, configs));
  }
  const found = await Promise.all(
    keys.map(async (key) => planOf.of(name, key === "" ? undefined : key)),
  );
  return keys.map((key, i) => limitOf(context, name, key, { ...configs, plan: found[i] }));
}

/** The first `count` stored keys after `last` that have rows; `""` is the shared bucket. */
export async function listKeys(
  { store, bound }: ListContext,
  name: string,
  last: string | undefined,
  count: number,
  shards: number,
): Promise<string[]> {
  if (store.list === undefined) throw unsupported(store, "list");
  const keys: string[] = [];
  let after = last === undefined ? undefined : rowId(name, last, LAST_SHARD);
  for (;;) {
    const wanted = Math.min((count - keys.length) * shards, MAX_ROWS);
    const page: RowId[] = await bound(() => store.list!(name, after, wanted));
    // The shards of a key follow each other.
    for (const { key } of page) if (key !== keys.at(-1)) keys.push(key);
    if (keys.length >= count || page.length < wanted) return keys.slice(0, count);
    after = rowId(name, keys.at(-1)!, LAST_SHARD);
  }
}

export async function readItems(
  { executor }: Pick<ListContext, "executor">,
  limits: readonly ResolvedLimit[],
): Promise<LimitItem[]> {
  const items: LimitItem[] = [];
  // A key that is exempt or blocked has one row.
  const shards = Math.max(1, ...limits.map(({ config }) => config.shards ?? 1));
  const perTrip = Math.max(1, Math.floor(MAX_ROWS / shards));
  for (let from = 0; from < limits.length; from += perTrip) {
    const some = limits.slice(from, from + perTrip);
    const reads = await readLimits(executor, some);
    for (const [i, { state: read }] of reads.entries()) {
      const { now, ...state } = read;
      const { key, config, plan, override } = some[i]!;
      const { value, ts } = calculateRateLimit(state, config, now);
      const shown = shownConfig(config, value, now, ts);
      const held = heldIn(state);
      const by = { ...(plan !== undefined && { plan }), ...(override && { override }) };
      items.push({ key, value, ts, config: shown, now, ...held, ...by });
    }
  }
  return items;
}

/** Stands before the key in a cursor, because the shared bucket has an empty key. */
const MARK = "k";

/** The last key of a page, in the characters of a URL. */
export function cursorOf(key: string, mark: string = MARK): string {
  return mark + encodeURIComponent(key);
}

export function keyOfCursor(cursor: unknown, mark: string = MARK): string {
  const key = typeof cursor === "string" ? decoded(cursor.slice(MARK.length)) : undefined;
  const isValid = key !== undefined && (key === "" || problemOf(key) === undefined);
  if (isValid && cursorOf(key, mark) === cursor) return key;
  const message = `after must be the next of another page, got ${describe(cursor)}`;
  throw new RateLimitInputError("key", message);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
