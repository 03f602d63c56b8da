/** Keeps snapshots in the application's `QueryClient`: survives remounts, shows in its devtools. */
import type { QueryClient } from "@tanstack/react-query";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { SnapshotCache } from "../observer.js";
import type { RateLimitItem } from "../transport.js";

export function queryCache(queryClient: QueryClient, path: string): SnapshotCache {
  const keyOf = ({ name, key }: RateLimitItem) =>
    key === undefined ? [path, "status", name] : [path, "status", name, key];
  return {
    get: (item) => queryClient.getQueryData<RateLimitSnapshot>(keyOf(item)),
    set: (item, snapshot) => queryClient.setQueryData(keyOf(item), snapshot),
  };
}
