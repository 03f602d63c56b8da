/** One limit in one line, and its details: its last minute, its facts, and the pretences for it. */
"use client";
import { memo, type ReactElement, useId } from "react";
import type { RateLimitObserver } from "../types.js";
import { Disclosure } from "./disclosure.js";
import { Facts } from "./facts.js";
import type { Pretence } from "./pretend.js";
import type { Recorder } from "./recorder.js";
import { Sparkline } from "./sparkline.js";
import type { LimitDetails, LimitView } from "./view.js";

const ACTIONS: readonly { pretence: Pretence; label: string }[] = [
  { pretence: "drained", label: "Drain" },
  { pretence: "refilled", label: "Refill" },
  { pretence: "denied for 10 s", label: "Deny for 10 s" },
];

interface Props {
  limit: LimitView;
  observer: RateLimitObserver;
  recorder: Recorder;
  onToggle(rowId: string): void;
}

/** Renders only when the limit's text changes: `useShown` keeps equal views. */
export const LimitLine = memo(function LimitLine(props: Props): ReactElement {
  const { limit, onToggle } = props;
  const { rowId, name, key, left, bound, fill, summary, pretence, details } = limit;
  return (
    <li>
      <Disclosure
        level="h3"
        title={
          <>
            {name}
            {key !== undefined && <code>{key}</code>}
          </>
        }
        line={
          <>
            <span className="trl-bar" aria-hidden="true" hidden={fill === undefined}>
              <span style={{ width: `${(fill ?? 0) * 100}%` }} />
            </span>
            <span className="trl-left">
              {left}
              {bound !== undefined && <span>{` of ${bound}`}</span>}
            </span>
            <span className="trl-status" data-state={summary.state}>
              {summary.text}
              {pretence !== undefined && <em>, pretended</em>}
            </span>
          </>
        }
        isOpen={details !== undefined}
        onToggle={() => onToggle(rowId)}
      >
        {details && <Details {...props} details={details} />}
      </Disclosure>
    </li>
  );
});

function Details({ limit, details, observer, recorder }: Props & { details: LimitDetails }) {
  const heading = useId();
  const { id, pretence } = limit;
  const { statuses, lines, facts, error, pretences } = details;
  return (
    <>
      <div>
        {error !== undefined && <p className="trl-error">{`The server does not tell: ${error}`}</p>}
        {pretence !== undefined && (
          <p className="trl-pretence">
            {`Pretended: ${pretence}, in this page only. The server's next word ends it.`}
          </p>
        )}
        {statuses.map(({ count, state, text }) => (
          <p key={count} className="trl-status" data-state={state}>
            {text}
          </p>
        ))}
        <Facts facts={facts} />
      </div>
      <div>
        {lines && <Sparkline lines={lines} />}
        <button type="button" onClick={() => recorder.ask(observer, id)}>
          Ask the server
        </button>
        <p id={heading}>Pretend in this page:</p>
        <div className="trl-actions" role="group" aria-labelledby={heading}>
          {ACTIONS.map((action) => (
            <button
              key={action.label}
              type="button"
              disabled={!pretences.includes(action.pretence)}
              onClick={() => recorder.pretend(observer, id, action.pretence)}
            >
              {action.label}
            </button>
          ))}
        </div>
      </div>
    </>
  );
}
