/** The panel: what each observer of the page knows, and what has happened since the plugin was made. */
"use client";
import { type ReactElement, useCallback, useState } from "react";
import { Disclosure } from "./disclosure.js";
import { Facts } from "./facts.js";
import { LimitLine } from "./limit-line.js";
import type { Recorder } from "./recorder.js";
import { STYLES } from "./styles.js";
import { TimelineList } from "./timeline-list.js";
import { Toolbar } from "./toolbar.js";
import { useShown } from "./use-shown.js";
import type { LimitView, ObserverView } from "./view.js";

export function Panel({
  recorder,
  theme,
}: {
  recorder: Recorder;
  theme: "light" | "dark";
}): ReactElement {
  const [{ views, events, isOffline }, lookAgain] = useShown(recorder);
  const [filter, setFilter] = useState("");
  const toggle = useCallback(
    (rowId: string) => {
      if (!recorder.opened.delete(rowId)) recorder.opened.add(rowId);
      lookAgain();
    },
    [recorder, lookAgain],
  );
  const wanted = filter.trim().toLowerCase();
  const isWanted = (...texts: (string | undefined)[]) =>
    texts.some((text) => text?.toLowerCase().includes(wanted));
  return (
    // `tabIndex`, so that the panel scrolls by keyboard, too.
    <section className="trl-devtools" data-theme={theme} aria-label="Rate limits" tabIndex={0}>
      <style>{STYLES}</style>
      <div className="trl-panel">
        <Toolbar recorder={recorder} isOffline={isOffline} filter={filter} onFilter={setFilter} />
        <div className="trl-limits">
          {views.length === 0 && <p>This page follows no rate limit.</p>}
          {views.map((view) => (
            <Observer
              key={view.id}
              view={view}
              recorder={recorder}
              isShown={({ name, key, procedures }) => isWanted(name, key, ...procedures)}
              onToggle={toggle}
            />
          ))}
        </div>
        <TimelineList
          events={events.filter(({ kind, item, path, text }) =>
            isWanted(kind, item.name, item.key, path, text),
          )}
          units={unitsOf(views)}
          isEmpty={events.length === 0}
          onClear={() => {
            recorder.timeline.clear();
            lookAgain();
          }}
        />
      </div>
    </section>
  );
}

/** What each limit counts, by name. */
function unitsOf(views: readonly ObserverView[]): Map<string, string> {
  return new Map(views.flatMap(({ limits }) => limits.map(({ name, unit }) => [name, unit])));
}

function Observer({
  view: { observer, connection, rowId, isOpen, facts, limits },
  recorder,
  isShown,
  onToggle,
}: {
  view: ObserverView;
  recorder: Recorder;
  isShown(limit: LimitView): boolean;
  onToggle(rowId: string): void;
}) {
  const shown = limits.filter(isShown);
  return (
    <div className="trl-observer">
      <Disclosure
        level="h2"
        title="Connection"
        line={<span data-connection={connection}>{connection}</span>}
        isOpen={isOpen}
        onToggle={() => onToggle(rowId)}
      >
        <Facts facts={facts} />
      </Disclosure>
      {limits.length === 0 && <p>It follows no limit now.</p>}
      {limits.length > shown.length && (
        <p>{`${shown.length} of ${limits.length} limits are shown.`}</p>
      )}
      <ul aria-label="Limits">
        {shown.map((limit) => (
          <LimitLine
            key={limit.id}
            limit={limit}
            observer={observer}
            recorder={recorder}
            onToggle={onToggle}
          />
        ))}
      </ul>
    </div>
  );
}
