/** Shows which keys have the most denials, or took the most tokens: "who hammers us?" */
import { RateLimitConfigError } from "../../../core/errors.js";
import { keyOption } from "../../../core/key-option.js";
import { spanAt, usageTerms } from "../../../core/rows/usage.js";
import type { Operator } from "../../limiter/parts/operator.js";
import type { TopUsage, TopUsageOptions } from "../../limiter/types/usage.js";
import type { AdminTop } from "./usage-types.js";
import { addCounts, noKeyCounts, type TopCounts } from "./key-history.js";
import type { AdminTopInput } from "./router-types.js";
import { wholeSpans } from "./show-usage.js";
import type { TopOfProcesses } from "./top-of-processes.js";

/** The part of a limiter that reads the keys with the most usage. */
export interface TopUses {
  topUsage(name: string, options: TopUsageOptions): Promise<TopUsage>;
}

const DEFAULT_COUNT = 20;

interface TopParts {
  operator: Pick<Operator, "configs" | "clock">;
  limiter: TopUses;
  ofProcesses: TopOfProcesses;
}

type Item<TName extends string> = AdminTop<TName>["items"][number];
type Source<TName extends string> = AdminTop<TName>["sources"][number];
type Question = Pick<AdminTopInput, "from" | "to" | "by" | "count">;

/**
 * @param names the limits that the caller may view.
 * @throws RateLimitConfigError for a range that cannot be read, quoting the option.
 */
export async function showTop<TName extends string>(
  { operator, limiter, ofProcesses }: TopParts,
  names: readonly TName[],
  { from, to, by, count = DEFAULT_COUNT }: Question,
): Promise<AdminTop<TName>> {
  const { configs, clock } = operator;
  if (from >= to) throw new RateLimitConfigError("to", to, `after from, which is ${from}`);
  const items: Omit<Item<TName>, "share">[] = [];
  const total = noKeyCounts();
  const sources = new Map<TName, Source<TName>>();
  const others = names.filter((name) => !configs.get(name)?.usage);
  const asking = others.length > 0 ? ofProcesses.top(others, { from, to, by }) : undefined;
  // One limit after the other: each statement reads all counters of its limit.
  const reading = (async () => {
    for (const name of names) {
      const { usage } = configs.get(name) ?? {};
      if (!usage) continue;
      const { every, keep } = usageTerms(usage);
      const options = { ...wholeSpans(every, { from, to }), by, count };
      const found = await topUsageOnce(limiter, name, options);
      for (const { givenBack: _, ...item } of found.items) items.push({ name, ...item });
      addCounts(total, found.total);
      const since = Math.max(0, spanAt(every, clock() - keep));
      sources.set(name, { name, source: "usage", since });
    }
  })();
  const [answer] = await Promise.all([asking, reading]);
  for (const name of others) {
    const { source, since, byName } = answer!;
    const found = byName.get(name);
    if (found !== undefined) {
      items.push(...itemsOf(name, found));
      addCounts(total, found.total);
    }
    sources.set(name, { name, source, since });
  }
  const most = items.filter((item) => item[by] > 0).sort((a, b) => b[by] - a[by]);
  return {
    now: clock(),
    items: most.slice(0, count).map((item) => {
      // The total is never the lower one, unless another process has told nonsense.
      return { ...item, share: item[by] / Math.max(total[by], item[by]) };
    }),
    total,
    sources: names.map((name) => sources.get(name)!),
  };
}

/** The reads that are on their way. */
const reads = new WeakMap<TopUses, Map<string, Promise<TopUsage>>>();

/** Operators who ask the same at the same time share one read. */
function topUsageOnce(limiter: TopUses, name: string, options: TopUsageOptions): Promise<TopUsage> {
  const ofLimiter = reads.get(limiter) ?? new Map<string, Promise<TopUsage>>();
  reads.set(limiter, ofLimiter);
  const { from, to, by, count } = options;
  const asked = JSON.stringify([name, from, to, by, count]);
  let read = ofLimiter.get(asked);
  if (read === undefined) {
    read = limiter.topUsage(name, options).finally(() => ofLimiter.delete(asked));
    ofLimiter.set(asked, read);
  }
  return read;
}

function itemsOf<TName extends string>(name: TName, { keys }: TopCounts) {
  return [...keys].map(([key, counts]) => ({ name, ...keyOption(key || undefined), ...counts }));
}
