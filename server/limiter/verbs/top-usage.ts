/** `topUsage`: the keys that have used the most of a limit, from the rows of counters. */
import { keyOption } from "../../../core/key-option.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { bucketKeyOf } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { type Counts, noCounts, USAGE, usageIn } from "../../../core/rows/usage.js";
import type { Call, RateLimitStore } from "../../store/store.js";
import type { FoundSums, KeySums } from "../../store/sums.js";
import { addCounts, mostFirst, NO_BUCKET, sumsByList } from "../../store/top-sums.js";
import type { Context } from "../context/context.js";
import { namesOf, rejectUnknownOptions } from "../types/known-options.js";
import { unsupported } from "../types/unsupported.js";
import type { TopUsage, TopUsageOptions } from "../types/usage.js";
import { uncounted } from "./read-usage.js";
import { checkBounds } from "./usage-bounds.js";

const DEFAULT_COUNT = 20;
const MOST = 1000;

const OPTIONS = namesOf<TopUsageOptions>({ from: true, to: true, by: true, count: true });

/** The shards of the counters that say how much of each was counted, see `core/rows/usage.ts`. */
const SHARDS = { denied: [2], taken: [0, 1] } as const;

export interface TopUsageParts extends Pick<Context, "resolve" | "apply" | "list"> {
  readonly store: RateLimitStore;
  /** Bounds one statement over many rows. */
  boundSums<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
}

export async function topUsage(
  { resolve, apply, list, store, boundSums }: TopUsageParts,
  name: string,
  options: TopUsageOptions,
): Promise<TopUsage> {
  rejectUnknownOptions(options, OPTIONS, "topUsage()");
  const { from, to, by, count = DEFAULT_COUNT } = options;
  const { usage } = resolve(name, {}, false);
  if (usage === undefined) throw uncounted(name, "topUsage()");
  checkBounds(usage, from, to);
  if (!Object.hasOwn(SHARDS, by)) {
    throw new RateLimitConfigError("by", by, '"denied" or "taken"');
  }
  if (!Number.isSafeInteger(count) || count < 1 || count > MOST) {
    throw new RateLimitConfigError("count", count, `a whole number from 1 to ${MOST}`);
  }
  const terms = { from, to, by: SHARDS[by], count };
  const ofName = sideName(USAGE, name);
  if (store.sums === undefined && store.list === undefined) throw unsupported(store, "list");
  const found = store.sums
    ? await boundSums((call) => store.sums!(ofName, terms, call))
    : await sumsByList(apply, list, ofName, terms);
  const top = mostFirst([...found.top, restOf(found)], terms).slice(0, count);
  return { items: top.map(itemOf), total: usageIn(totalOf(found)) };
}

/**
 * What the keys have not counted: the calls without a key. The sum of all keys is written later than the
 * usage that a decision counts itself, and may be the lower one.
 */
function restOf({ keys, all }: FoundSums): KeySums {
  return { start: NO_BUCKET, counts: all.map((sum, shard) => Math.max(0, sum - keys[shard]!)) };
}

function totalOf(found: FoundSums): Counts {
  const total = noCounts();
  addCounts(total, found.keys);
  addCounts(total, restOf(found).counts);
  return total;
}

function itemOf({ start, counts }: KeySums): TopUsage["items"][number] {
  return { ...keyOption(bucketKeyOf(start) || undefined), ...usageIn(counts) };
}
