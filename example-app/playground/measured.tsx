/** How far the page's predictions were off, measured with each grant. */
import { useSyncExternalStore } from "react";
import type { BucketHistory } from "./bucket-history.js";
import { differenceOf } from "./measure-prediction.js";
import "./measured.css";

/** A smaller difference is shown as 0.000. */
const SHOWN = 0.0005;
const NONE = "–";

export function MeasuredPrediction({ history }: { history: BucketHistory }) {
  useSyncExternalStore(history.subscribe, () => history.counts);
  const { grants, last, most } = history.measured();
  const off = last && differenceOf(last);
  return (
    <section className="measured" aria-labelledby="measured-title">
      <h2 id="measured-title">Prediction error, in tokens</h2>
      <dl>
        <div>
          <dt>
            last:{" "}
            <span>
              page <b data-predicted={last?.predicted}>{shortOf(last?.predicted)}</b>
            </span>{" "}
            <span>
              server <b data-said={last?.said}>{shortOf(last?.said)}</b>
            </span>
          </dt>
          <dd data-last={off}>{shortOf(off)}</dd>
        </div>
        <div>
          <dt>{`at most, of ${grants} grants`}</dt>
          <dd data-grants={grants} data-deviation={most}>
            {grants > 0 ? shortOf(most) : NONE}
          </dd>
        </div>
      </dl>
      <p>{meaningOf(grants, most, (history.config?.shards ?? 1) > 1)}</p>
    </section>
  );
}

function shortOf(value: number | undefined): string {
  // A debt of less than half a thousandth is 0.
  return value === undefined ? NONE : value.toFixed(3).replace(/^-(0\.000)$/, "$1");
}

function meaningOf(grants: number, most: number, hasShards: boolean): string {
  if (hasShards) return "Not measured with shards: an answer knows only the rows of its own call.";
  if (grants > 0 && most >= SHOWN)
    return "The server knew something that this page had not yet heard of.";
  return "0.000: what this page calculated is what the server said, to a thousandth of a token.";
}
