/** The playground: choose the numbers of a limit, take tokens, and see what the algebra does. */
import { hashKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Part } from "../shared/page/pieces.js";
import { useTRPC } from "../shared/page/trpc.js";
import { type BucketHistory, createBucketHistory } from "./bucket-history.js";
import { BucketPlot } from "./bucket-plot.js";
import { Calls } from "./calls.js";
import { ChooseLimit } from "./choose-limit.js";
import "./page.css";

export default function Playground() {
  const [history] = useState(createBucketHistory);
  useSnapshots(history);
  return (
    <Part
      title="Playground"
      lead="Choose a limit and take its tokens. The line is predicted by this page; the points on it are what the server said."
    >
      <div className="playground">
        <BucketPlot history={history} />
        <Calls history={history} />
        <ChooseLimit history={history} />
      </div>
    </Part>
  );
}

/** Hands each snapshot to the history. The hooks keep the last one in the QueryClient. */
function useSnapshots(history: BucketHistory): void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  useEffect(() => {
    // Limit: the entry of its last snapshot.
    const { queryKey } = trpc.rateLimit.status.queryOptions({ name: "playground" });
    const hash = hashKey(queryKey);
    return queryClient.getQueryCache().subscribe(({ type, query }) => {
      if (type !== "updated" || query.queryHash !== hash) return;
      const snapshot = queryClient.getQueryData(queryKey);
      if (snapshot) history.snapshot(snapshot);
    });
  }, [trpc, queryClient, history]);
}
