/** Hands each snapshot to the history. The hooks keep the last one in the QueryClient. */
import { hashKey, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTRPC } from "../shared/page/trpc.js";
import type { BucketHistory } from "./bucket-history.js";

export function useSnapshots(history: BucketHistory): void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  useEffect(() => {
    // Limit: the cache entry of the limit's last snapshot.
    const { queryKey } = trpc.rateLimit.status.queryOptions({ name: "playground" });
    const hash = hashKey(queryKey);
    return queryClient.getQueryCache().subscribe(({ type, query }) => {
      if (type !== "updated" || query.queryHash !== hash) return;
      const snapshot = queryClient.getQueryData(queryKey);
      if (snapshot) history.snapshot(snapshot);
    });
  }, [trpc, queryClient, history]);
}
