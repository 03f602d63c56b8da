/** How many keys each limit limits now, as the tabs show it. */
"use client";
import { type Admin, useAdmin } from "./admin-context.js";
import { usePoll } from "./use-poll.js";

/** The most keys that are counted for a limit. A limit with more shows `99+`. */
const COUNTED = 99;
/** ms between two counts, at least: the server looks at many rows for each. */
const COUNT_INTERVAL = 10_000;

export type Counts = Readonly<Record<string, string>>;

/**
 * @param onCount called after each count, with the first limit that limits a key, or else with the first
 * of all.
 * @returns the counts by name, such as `3` or `99+`; `undefined` before the first count. And whether the
 * first count is still on its way.
 */
export function useCounts(onCount: (name: string) => void): {
  counts: Counts | undefined;
  isCounting: boolean;
} {
  const { client, limits, interval } = useAdmin();
  const names = limits.limits.map(({ name }) => name);
  const { data, error } = usePoll(
    JSON.stringify(names),
    async (signal) => {
      const counts = await countAll(client, names, signal);
      onCount(names.find((name) => counts[name] !== "0") ?? names[0]!);
      return { counts };
    },
    Math.max(COUNT_INTERVAL, 5 * interval),
  );
  return { counts: data?.counts, isCounting: !data && error === undefined };
}

async function countAll(
  client: Admin["client"],
  names: readonly string[],
  signal: AbortSignal,
): Promise<Counts> {
  const counts = await Promise.all(
    names.map(async (name): Promise<[string, string]> => {
      const { items, next } = await client.list({ name, denied: true, count: COUNTED }, signal);
      return [name, countText(items.length, next !== undefined)];
    }),
  );
  return Object.fromEntries(counts);
}

/** @param hasMore whether there are more than `count`. */
export function countText(count: number, hasMore: boolean): string {
  return hasMore || count > COUNTED ? `${Math.min(count, COUNTED)}+` : String(count);
}
