/**
 * Keeps snapshots in the application's `QueryClient`: survives remounts, shows in its devtools, and
 * takes over what a server has put there for hydration.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { SnapshotCache } from "../observer.js";
import type { RateLimitItem } from "../transport.js";

export interface QueryCache extends SnapshotCache {
  /** What the server's page was rendered with: always the same, whatever was heard since. */
  prefetched(item: RateLimitItem): RateLimitSnapshot | undefined;
}

/**
 * @param heard snapshots that an observer has put into a cache. A page from the server cannot have
 * shown those, so hydration must not either.
 */
export function queryCache(
  queryClient: QueryClient,
  path: string,
  heard: WeakSet<RateLimitSnapshot>,
): QueryCache {
  const first = new Map<string, RateLimitSnapshot>();
  const keyOf = ({ name, key }: RateLimitItem) =>
    key === undefined ? [path, "status", name] : [path, "status", name, key];
  const get = (item: RateLimitItem) => queryClient.getQueryData<RateLimitSnapshot>(keyOf(item));

  function prefetched(item: RateLimitItem): RateLimitSnapshot | undefined {
    const id = keyOf(item).join("\0");
    const held = get(item);
    if (held && !first.has(id) && !heard.has(held)) first.set(id, held);
    return first.get(id);
  }

  return {
    prefetched,
    get(item) {
      // Kept before the observer, who asks here first, overwrites it.
      prefetched(item);
      return get(item);
    },
    set(item, snapshot) {
      // The cache may keep a copy.
      heard.add(queryClient.setQueryData<RateLimitSnapshot>(keyOf(item), snapshot) ?? snapshot);
    },
  };
}
