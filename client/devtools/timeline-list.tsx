/** The timeline: the latest first. */
"use client";
import type { ReactElement } from "react";
import type { TimelineEvent } from "./timeline.js";

/** The most events that are drawn. The copy as JSON has the others, too. */
const MOST_SHOWN = 100;

export function TimelineList({
  events,
  isEmpty,
  onClear,
}: {
  /** The events that the filter lets through. */
  events: readonly TimelineEvent[];
  /** Whether there are no events at all, whatever the filter. */
  isEmpty: boolean;
  onClear(): void;
}): ReactElement {
  return (
    <div className="trl-timeline">
      <div className="trl-row">
        <h2>Timeline</h2>
        {!isEmpty && (
          <button type="button" onClick={onClear}>
            Clear
          </button>
        )}
      </div>
      {isEmpty && <p>No call has been seen yet.</p>}
      {!isEmpty && events.length === 0 && <p>Nothing has such a text.</p>}
      <ol>
        {events.slice(0, MOST_SHOWN).map((event) => (
          <Event key={event.id} event={event} />
        ))}
      </ol>
      {events.length > MOST_SHOWN && (
        <p>{`${events.length - MOST_SHOWN} older ones are not shown.`}</p>
      )}
    </div>
  );
}

function Event({ event: { at, kind, item, count, path, text, times } }: { event: TimelineEvent }) {
  return (
    <li data-kind={kind}>
      <time dateTime={new Date(at).toISOString()}>{timeOf(at)}</time>{" "}
      <strong>{`${kind}${count === undefined ? "" : ` ${count}`}${times > 1 ? ` ×${times}` : ""}`}</strong>{" "}
      <span>
        <span>{item.name}</span>
        {item.key !== undefined && <code>{item.key}</code>}
        <span>{`${path === undefined ? "" : `, ${path}`}${text === "" ? "" : `: ${text}`}`}</span>
      </span>
    </li>
  );
}

/** The time of day on this machine's clock, to the ms: 14:05:09.120. */
function timeOf(at: number): string {
  const ms = String(new Date(at).getMilliseconds()).padStart(3, "0");
  return `${new Date(at).toLocaleTimeString("en-GB")}.${ms}`;
}
