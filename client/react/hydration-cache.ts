/**
 * Keeps snapshots in the application's `QueryClient`. With tRPC, the keys are those of tRPC's own
 * `status` queries. There the snapshots survive remounts, show in the devtools of TanStack Query and can
 * be refetched. The snapshots that a server has prefetched there are used for hydration.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { isSnapshot } from "../is-snapshot.js";
import { idOf } from "../limit-entry.js";
import type { RateLimitItem, SnapshotCache } from "../types.js";

export interface HydrationCache extends SnapshotCache {
  /** The snapshot with which the server rendered its page; always the same snapshot for an item. */
  prefetched(item: RateLimitItem): RateLimitSnapshot | undefined;
  /**
   * The seconds that were left of a status at the instant for which the server rendered it, by the
   * `retryAt` of the status. A countdown gets only this `retryAt`, which is on the server's clock.
   */
  readonly seconds: Map<number, number>;
}

/** How old a prefetched snapshot can be, ms, so that the page need not ask for the limit at first. */
const FRESH = 10_000;

/**
 * The snapshots that an observer has put into a cache. The server's page cannot have shown these
 * snapshots, so hydration must not show them either.
 */
const received = new WeakSet<RateLimitSnapshot>();

/**
 * @param keyOf the key of the snapshot of a limit.
 * @param request asks the server, for an application that refetches through its QueryClient.
 */
export function hydrationCache(
  queryClient: QueryClient,
  keyOf: (item: RateLimitItem) => readonly unknown[],
  request: (item: RateLimitItem) => Promise<RateLimitSnapshot>,
): HydrationCache {
  const first = new Map<string, RateLimitSnapshot>();

  function get(item: RateLimitItem): RateLimitSnapshot | undefined {
    const held: unknown = queryClient.getQueryData(keyOf(item));
    return isSnapshot(held) ? held : undefined;
  }

  /** The snapshot in the cache, if no observer has put it there. */
  function hydrated(item: RateLimitItem): RateLimitSnapshot | undefined {
    const held = get(item);
    return received.has(held!) ? undefined : held;
  }

  function prefetched(item: RateLimitItem): RateLimitSnapshot | undefined {
    const snapshot = first.get(idOf(item)) ?? hydrated(item);
    if (snapshot) first.set(idOf(item), snapshot);
    return snapshot;
  }

  /** The entry, which can be refetched from now on. */
  function entryOf(item: RateLimitItem) {
    const options = queryClient.defaultQueryOptions({
      queryKey: keyOf(item),
      async queryFn() {
        const answer = await request(item);
        // The observer has put it into the cache, if it follows the limit.
        received.add(answer);
        return answer;
      },
    });
    const query = queryClient.getQueryCache().build(queryClient, options);
    // An entry that was there before, such as a hydrated one, has no `queryFn`.
    query.setOptions(options);
    return query;
  }

  const updatedAt = (item: RateLimitItem) => entryOf(item).state.dataUpdatedAt;

  return {
    seconds: new Map(),
    prefetched,
    get(item) {
      // Keep the prefetched snapshot first: the observer that asks here overwrites it next.
      prefetched(item);
      return get(item);
    },
    updatedAt,
    // Clocks that differ by as much count as old, so that the page asks for the server's time.
    isFresh: (item) => hydrated(item) && Math.abs(Date.now() - updatedAt(item)) < FRESH,
    set(item, snapshot) {
      // Remember what the cache returns, since it may keep a copy.
      received.add(entryOf(item).setData(snapshot, { manual: true }));
    },
  };
}
