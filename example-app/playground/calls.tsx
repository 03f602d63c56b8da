/** The buttons that call, and what has become of the calls. */
import { useState, useSyncExternalStore } from "react";
import { Stable } from "../shared/page/pieces.js";
import { RateLimitCountdown } from "../shared/page/trpc.js";
import type { BucketHistory } from "./bucket-history.js";
import { HoldButton } from "./hold-button.js";
import { BOUNDS } from "./limits.js";
import { useCalls } from "./use-calls.js";

export function Calls({ history }: { history: BucketHistory }) {
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
