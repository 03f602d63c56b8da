/** The playground: choose the numbers of a limit, take tokens, and see what the algebra does. */
import { hashKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { BOUNDS } from "../server/playground-bounds.js";
import { type BucketHistory, createBucketHistory } from "./bucket-history.js";
import { BucketPlot } from "./bucket-plot.js";
import { ChooseLimit } from "./choose-limit.js";
import { HoldButton } from "./hold-button.js";
import { Part } from "./part.js";
import "./playground.css";
import { Stable } from "./stable.js";
import { RateLimitCountdown, useTRPC } from "./trpc.js";
import { useCalls } from "./use-calls.js";

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
    const { queryKey } = trpc.rateLimit.status.queryOptions({ name: "playground" });
    const hash = hashKey(queryKey);
    return queryClient.getQueryCache().subscribe(({ type, query }) => {
      if (type !== "updated" || query.queryHash !== hash) return;
      const snapshot = queryClient.getQueryData(queryKey);
      if (snapshot) history.snapshot(snapshot);
    });
  }, [trpc, queryClient, history]);
}

function Calls({ history }: { history: BucketHistory }) {
  const [count, setCount] = useState("1");
  const [reserve, setReserve] = useState(false);
  const calls = useCalls(history, { count: Number(count), reserve });
  const isValid = Number(count) >= BOUNDS.count.min && Number(count) <= BOUNDS.count.max;
  const isLoose = calls.visitorsLeaveAt !== undefined;

  return (
    <section className="card calls" aria-labelledby="calls-title">
      <h2 id="calls-title">Calls</h2>
      <label>
        Tokens of a call
        <input
          type="number"
          {...BOUNDS.count}
          step="any"
          value={count}
          onChange={({ target }) => setCount(target.value)}
        />
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={reserve}
          onChange={({ target }) => setReserve(target.checked)}
        />
        <span>
          Reserve tokens that are still to come. They are owed, down to the capacity below 0.
        </span>
      </label>
      <div className="buttons">
        <HoldButton
          disabled={!isValid}
          call={calls.call}
          hold={calls.hold}
          release={calls.release}
        />
        <button type="button" disabled={!isValid} onClick={isLoose ? calls.stop : calls.letLoose}>
          <Stable
            shown={
              isLoose ? (
                <>
                  Stop{" "}
                  <RateLimitCountdown retryAt={calls.visitorsLeaveAt} announcement={() => ""}>
                    {(seconds) => `${seconds}s`.padStart(3, FIGURE_SPACE)}
                  </RateLimitCountdown>
                </>
              ) : (
                LET_LOOSE
              )
            }
            texts={[LET_LOOSE, "Stop 60s"]}
          />
        </button>
      </div>
      <p className="outcome" role={calls.problem ? "alert" : undefined}>
        {calls.problem ??
          "Hold Call for a call every 200 ms. Ten visitors share your bucket, and leave after a minute."}
      </p>
      <Numbers history={history} />
    </section>
  );
}

/** As wide as a digit. */
const FIGURE_SPACE = "\u2007";
const LET_LOOSE = "Ten visitors";

function Numbers({ history }: { history: BucketHistory }) {
  const counts = useSyncExternalStore(history.subscribe, () => history.counts);
  const { grants, most } = history.deviation();
  return (
    <dl className="numbers">
      <div>
        <dt>Granted</dt>
        <dd data-granted={counts.granted} data-tokens={counts.tokens}>
          {counts.granted}
        </dd>
      </div>
      <div>
        <dt>Denied</dt>
        <dd data-denied={counts.denied}>{counts.denied}</dd>
      </div>
      <div>
        <dt>Unanswered</dt>
        <dd data-lost={counts.lost} data-waiting={counts.waiting}>
          {counts.lost + counts.waiting}
        </dd>
      </div>
      <div>
        <dt>Prediction off, tokens</dt>
        <dd data-grants={grants} data-deviation={most}>
          {grants > 0 ? most.toFixed(3) : "–"}
        </dd>
      </div>
    </dl>
  );
}
