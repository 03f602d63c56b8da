/** The outcomes of the calls, as numbers. */
import { useSyncExternalStore } from "react";
import type { BucketHistory } from "./bucket-history.js";
import "./numbers.css";

export function Numbers({ history }: { history: BucketHistory }) {
  const counts = useSyncExternalStore(history.subscribe, () => history.counts);
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
    </dl>
  );
}
