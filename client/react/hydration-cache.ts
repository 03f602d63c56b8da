/**
 * Keeps snapshots in the application's `QueryClient`. There they survive remounts and show in its
 * devtools, and the snapshots that a server has put there for hydration are used.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { RateLimitItem, SnapshotCache } from "../types.js";

export interface HydrationCache extends SnapshotCache {
  /** The snapshot that the server rendered its page with. It never changes. */
  prefetched(item: RateLimitItem): RateLimitSnapshot | undefined;
}

/**
 * @param received snapshots that an observer has put into a cache. The server's page cannot have
 * shown those, so hydration must not show them either.
 */
export function hydrationCache(
  queryClient: QueryClient,
  path: string,
  received: WeakSet<RateLimitSnapshot>,
): HydrationCache {
  const first = new Map<string, RateLimitSnapshot>();
  const keyOf = ({ name, key }: RateLimitItem) => [path, "status", name].concat(key ?? []);
  const get = (item: RateLimitItem) => queryClient.getQueryData<RateLimitSnapshot>(keyOf(item));

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
    set(item, snapshot) {
      // Remember what the cache returns, since it may keep a copy.
      received.add(queryClient.setQueryData<RateLimitSnapshot>(keyOf(item), snapshot) ?? snapshot);
    },
  };
}
