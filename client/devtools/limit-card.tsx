/** One limit: its status, its last minute, its facts, and the pretences for it. */
"use client";
import { type ReactElement, useId, useState } from "react";
import type { RateLimitObserver } from "../types.js";
import { Facts } from "./facts.js";
import type { Pretence } from "./pretend.js";
import type { Recorder } from "./recorder.js";
import { Sparkline } from "./sparkline.js";
import type { LimitView } from "./view.js";

const ACTIONS: readonly { pretence: Pretence; label: string }[] = [
  { pretence: "drained", label: "Drain" },
  { pretence: "refilled", label: "Refill" },
  { pretence: "denied for 10 s", label: "Deny 10 s" },
];

interface Props {
  limit: LimitView;
  observer: RateLimitObserver;
  recorder: Recorder;
}

export function LimitCard({ limit, observer, recorder }: Props): ReactElement {
  const { id, name, key, statuses, fill, lines, facts, error, pretence } = limit;
  const [isOpen, setIsOpen] = useState(!recorder.collapsed.has(id));
  const details = useId();

  function toggle() {
    if (isOpen) recorder.collapsed.add(id);
    else recorder.collapsed.delete(id);
    setIsOpen(!isOpen);
  }

  return (
    <li>
      <div className="trl-row">
        <h2>
          <button type="button" aria-expanded={isOpen} aria-controls={details} onClick={toggle}>
            {name}
            {key !== undefined && <code>{key}</code>}
          </button>
        </h2>
        <button type="button" onClick={() => recorder.ask(observer, id)}>
          Ask now
        </button>
      </div>
      <div>
        {statuses.map(({ count, state, text }) => (
          <p key={count} className="trl-status" data-state={state}>
            {statuses.length === 1 && count === 1 ? text : `for ${count}: ${text}`}
          </p>
        ))}
      </div>
      {fill !== undefined && (
        <div className="trl-bar" aria-hidden="true">
          <div style={{ width: `${fill * 100}%` }} />
        </div>
      )}
      {error !== undefined && <p className="trl-error">{`The server does not tell: ${error}`}</p>}
      {pretence !== undefined && (
        <p className="trl-pretence">
          {`Pretended: ${pretence}, in this page only. The server's next word ends it.`}
        </p>
      )}
      <div id={details} className="trl-details" hidden={!isOpen}>
        {lines && <Sparkline lines={lines} />}
        <Facts facts={facts} />
        <Pretences limit={limit} observer={observer} recorder={recorder} />
      </div>
    </li>
  );
}

/** The buttons that pretend something. */
function Pretences({ limit: { id, name, pretences }, observer, recorder }: Props) {
  return (
    <div className="trl-actions" role="group" aria-label={`Pretend for ${name}, in this page only`}>
      <span>In this page:</span>
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
  );
}
