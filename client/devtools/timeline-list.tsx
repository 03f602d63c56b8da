/** The timeline: the latest first. */
"use client";
import { memo, type ReactElement } from "react";
import { formatCount } from "./format.js";
import type { TimelineEvent } from "./timeline.js";

/** The most events that are drawn. The copy as JSON has the others, too. */
const MOST_SHOWN = 100;

export function TimelineList({
  events,
  units,
  isEmpty,
  onClear,
}: {
  /** The events that the filter lets through. */
  events: readonly TimelineEvent[];
  /** What each limit counts, by name. */
  units: ReadonlyMap<string, string>;
  /** Whether there are no events at all, whatever the filter. */
  isEmpty: boolean;
  onClear(): void;
}): ReactElement {
  return (
    // `tabIndex`, because the column scrolls by itself in a wide panel.
    <div className="trl-timeline" role="group" aria-label="Timeline" tabIndex={0}>
      <div className="trl-head">
        <h2>Timeline</h2>
        <button type="button" disabled={isEmpty} onClick={onClear}>
          Clear
        </button>
      </div>
      {isEmpty && <p>No call has been seen yet.</p>}
      {!isEmpty && events.length === 0 && <p>Nothing has such a text.</p>}
      <ol>
        {events.slice(0, MOST_SHOWN).map((event) => (
          <Event key={event.id} event={event} unit={units.get(event.item.name) ?? "token"} />
        ))}
      </ol>
      {events.length > MOST_SHOWN && (
        <p>{`${events.length - MOST_SHOWN} older ones are not shown.`}</p>
      )}
    </div>
  );
}

const Event = memo(function Event({ event, unit }: { event: TimelineEvent; unit: string }) {
  const { at, kind, item, count, path, text, times } = event;
  const about = [
    path,
    count === undefined ? undefined : formatCount(count, unit),
    times > 1 ? `${times} times` : undefined,
  ].filter((each) => each !== undefined);
  return (
    <li data-kind={kind}>
      <time dateTime={new Date(at).toISOString()}>{timeOf(at)}</time> <strong>{kind}</strong>{" "}
      <span>
        <span>{item.name}</span>
        {item.key !== undefined && <code>{item.key}</code>}
        <span>{`${about.map((each) => `, ${each}`).join("")}${text === "" ? "" : `: ${text}`}`}</span>
      </span>
    </li>
  );
});

/** The time of day on this machine's clock, to the ms: 14:05:09.120. */
function timeOf(at: number): string {
  const ms = String(new Date(at).getMilliseconds()).padStart(3, "0");
  return `${new Date(at).toLocaleTimeString("en-GB")}.${ms}`;
}
