/** Pages through the buckets of a limit, one item per key, for an administrator's view. */
import { calculateRateLimit } from "../../core/calculate.js";
import type { RateLimitConfig } from "../../core/config.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { problemOf } from "../../core/validate-key.js";
import { readState } from "./read.js";
import { LIST_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { LimitItem, LimitPage, ListOptions } from "./limiter-types.js";
import { configOf, type ResolvedLimit, resolveLimit } from "./resolve-limit.js";
import { LAST_SHARD, rowId, type RateLimitStore, type RowId } from "../store/store.js";
import { unsupported } from "./unsupported.js";
import type { Context } from "./context.js";
import type { Executor } from "./executor.js";

/** Items per page. */
const DEFAULT_COUNT = 100;
const MAX_COUNT = 1000;
/** The most rows of one round trip, so that each takes a small part of the time-out. */
const MAX_ROWS = 2000;

export interface ListContext {
  store: RateLimitStore;
  configs: ReadonlyMap<string, RateLimitConfig>;
  clock(): number;
  executor: Pick<Executor, "apply">;
  leases: Context["leases"];
  /** Bounds one round trip. */
  bound<TResult>(work: () => Promise<TResult>): Promise<TResult>;
}

export async function list(
  context: ListContext,
  name: string,
  options: ListOptions = {},
): Promise<LimitPage> {
  rejectUnknownOptions(options, LIST_OPTIONS, "list()");
  const { config: inline, after, count = DEFAULT_COUNT } = options;
  const config = configOf(context.configs, name, inline);
  if (!Number.isSafeInteger(count) || count < 1 || count > MAX_COUNT) {
    throw new RateLimitConfigError("count", count, `a whole number from 1 to ${MAX_COUNT}`);
  }
  const last = after === undefined ? undefined : keyOfCursor(after);
  // One more than the page has, to learn whether there is another page.
  const keys = await listKeys(context, name, last, count + 1, config.shards ?? 1);
  const shown = keys.slice(0, count);
  // Not from the cache of resolved limits: a list of many keys would replace those in use.
  const limits = shown.map((stored) => {
    const key = stored === "" ? undefined : stored;
    return resolveLimit(name, key, key, config);
  });
  const next = keys.length > count ? cursorOf(shown.at(-1)!) : undefined;
  return { items: await readItems(context, limits), next };
}

/** The first `count` stored keys after `last` that have rows; `""` is the shared bucket. */
async function listKeys(
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

async function readItems(
  { clock, executor, leases }: ListContext,
  limits: readonly ResolvedLimit[],
): Promise<LimitItem[]> {
  const items: LimitItem[] = [];
  const perTrip = Math.max(1, Math.floor(MAX_ROWS / (limits[0]?.config.shards ?? 1)));
  for (let from = 0; from < limits.length; from += perTrip) {
    const some = limits.slice(from, from + perTrip);
    const states = await executor.apply(some.map((limit) => readState(limit, { clock }, leases)));
    for (const [i, { now, ...state }] of states.entries()) {
      const { key, config } = some[i]!;
      const { value, ts } = calculateRateLimit(state, config, now);
      items.push({ key, value, ts, config, now });
    }
  }
  return items;
}

/** Before the key, because the shared bucket has an empty one. */
const MARK = "k";

/** The last key of a page, in the characters of a URL. */
function cursorOf(key: string): string {
  return MARK + encodeURIComponent(key);
}

function keyOfCursor(cursor: unknown): string {
  const key = typeof cursor === "string" ? decoded(cursor.slice(MARK.length)) : undefined;
  const isValid = key !== undefined && (key === "" || problemOf(key) === undefined);
  if (isValid && cursorOf(key) === cursor) return key;
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
