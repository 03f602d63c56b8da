/**
 * Keeps snapshots in the application's `QueryClient`. There they survive remounts, show in its
 * devtools and can be refetched. The snapshots that a server has put there for hydration are used.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { isSnapshot } from "../is-snapshot.js";
import type { RateLimitItem, SnapshotCache } from "../types.js";

export interface HydrationCache extends SnapshotCache {
  /** The snapshot that the server rendered its page with. It never changes. */
  prefetched(item: RateLimitItem): RateLimitSnapshot | undefined;
}

/**
 * @param received snapshots that an observer has put into a cache. The server's page cannot have
 * shown those, so hydration must not show them either.
 * @param request asks the server, for an application that refetches through its QueryClient.
 */
export function hydrationCache(
  queryClient: QueryClient,
  path: string,
  received: WeakSet<RateLimitSnapshot>,
  request: (item: RateLimitItem) => Promise<RateLimitSnapshot>,
): HydrationCache {
  const first = new Map<string, RateLimitSnapshot>();
  const keyOf = ({ name, key }: RateLimitItem) => [path, "status", name].concat(key ?? []);

  function get(item: RateLimitItem): RateLimitSnapshot | undefined {
    const held: unknown = queryClient.getQueryData(keyOf(item));
    return isSnapshot(held) ? held : undefined;
  }

  function prefetched(item: RateLimitItem): RateLimitSnapshot | undefined {
    const id = keyOf(item).join("\0");
    const held = get(item);
    if (held && !first.has(id) && !received.has(held)) first.set(id, held);
    return first.get(id);
  }

  return {
    prefetched,
    get(item) {
      // Keep the prefetched snapshot first: the observer that asks here overwrites it next.
      prefetched(item);
      return get(item);
    },
    updatedAt: (item) => queryClient.getQueryState(keyOf(item))?.dataUpdatedAt,
    set(item, snapshot) {
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
      // Remember what the cache returns, since it may keep a copy.
      received.add(query.setData(snapshot, { manual: true }));
    },
  };
}
