/** The playground: choose the numbers of a limit, take tokens, and see what the algebra does. */
import code from "code:./minimal.tsx";
import { hashKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Part } from "../shared/page/pieces.js";
import { useTRPC } from "../shared/page/trpc.js";
import { runningLink } from "./address.js";
import { type BucketHistory, createBucketHistory } from "./bucket-history.js";
import { BucketPlot } from "./bucket-plot.js";
import { CallGate } from "./call-gate.js";
import { Calls } from "./calls.js";
import { ChooseLimit } from "./choose-limit.js";
import { LimitCode } from "./limit-code.js";
import { MeasuredPrediction } from "./measured.js";
import { Numbers } from "./numbers.js";
import { Presets } from "./presets.js";
import { useCalls } from "./use-calls.js";
import { useSetting } from "./use-setting.js";
import "./page.css";

export default function Playground() {
  const [history] = useState(createBucketHistory);
  useSnapshots(history);
  const [gate] = useState(() => new CallGate(history));
  const setting = useSetting(history, gate);
  const calls = useCalls(history, gate, setting);
  const isRunning = calls.visitorsLeaveAt !== undefined;
  const { link } = setting;
  const wrong = setting.problem && `No such limit, so yours stays: ${setting.problem}.`;
  const problem = calls.problem ?? wrong;
  return (
    <Part
      title="Playground"
      code={code}
      lead="The line is predicted by this page. The points on it are the server’s answers."
    >
      <div className="playground">
        <div className="card bench">
          <Presets setting={setting} problem={problem} />
          <Calls setting={setting} calls={calls} />
          <MeasuredPrediction history={history} />
          <BucketPlot history={history} />
          <Numbers history={history} />
        </div>
        <ChooseLimit setting={setting} link={isRunning && link ? runningLink(link) : link} />
        <LimitCode setting={setting} />
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
