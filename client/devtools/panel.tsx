/** The panel: what each observer of the page knows, and what has happened since the plugin was made. */
"use client";
import { type ReactElement, useEffect, useState } from "react";
import { Facts } from "./facts.js";
import { LimitCard } from "./limit-card.js";
import type { Recorder } from "./recorder.js";
import { STYLES } from "./styles.js";
import type { TimelineEvent } from "./timeline.js";
import { TimelineList } from "./timeline-list.js";
import { Toolbar } from "./toolbar.js";
import { type LimitView, type ObserverView, viewOf } from "./view.js";

/**
 * ms between two looks. The panel asks, because a list of listeners in the observer would be loaded
 * by every page, and because ages and countdowns change without any event.
 */
const INTERVAL = 200;

export function Panel({
  recorder,
  theme,
}: {
  recorder: Recorder;
  theme: "light" | "dark";
}): ReactElement {
  const { views, events, isOffline } = useShown(recorder);
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const isWanted = (...texts: (string | undefined)[]) =>
    texts.some((text) => text?.toLowerCase().includes(wanted));
  const isShown = ({ name, key, facts }: LimitView) =>
    isWanted(name, key, facts.find(([term]) => term === "Charged by")?.[1]);
  return (
    // `tabIndex`, so that the panel scrolls by keyboard, too.
    <section className="trl-devtools" data-theme={theme} aria-label="Rate limits" tabIndex={0}>
      <style>{STYLES}</style>
      <Toolbar recorder={recorder} isOffline={isOffline} filter={filter} onFilter={setFilter} />
      {views.length === 0 && <p>This page follows no rate limit.</p>}
      {views.map((view) => (
        <Observer key={view.id} view={view} recorder={recorder} isShown={isShown} />
      ))}
      <TimelineList
        events={events.filter(({ kind, item, path, text }) =>
          isWanted(kind, item.name, item.key, path, text),
        )}
        isEmpty={events.length === 0}
        onClear={() => recorder.timeline.clear()}
      />
    </section>
  );
}

interface Shown {
  views: ObserverView[];
  events: TimelineEvent[];
  isOffline: boolean;
}

/** Renders only when a text changes. */
function useShown(recorder: Recorder): Shown {
  const [shown, setShown] = useState(() => look(recorder));
  useEffect(() => {
    const lookAgain = () => {
      const next = look(recorder);
      setShown((last) => (textOf(last) === textOf(next) ? last : next));
    };
    lookAgain();
    const timer = setInterval(lookAgain, INTERVAL);
    return () => clearInterval(timer);
  }, [recorder]);
  return shown;
}

function look(recorder: Recorder): Shown {
  recorder.sample();
  return {
    views: Array.from(recorder.observers, (observer) => viewOf(observer, recorder)),
    events: [...recorder.timeline.events],
    isOffline: recorder.network?.isOffline() ?? false,
  };
}

function textOf(shown: Shown): string {
  return JSON.stringify(shown, (name, value: unknown) => (name === "observer" ? "" : value));
}

function Observer({
  view,
  recorder,
  isShown,
}: {
  view: ObserverView;
  recorder: Recorder;
  isShown(limit: LimitView): boolean;
}) {
  const shown = view.limits.filter(isShown);
  return (
    <div className="trl-observer">
      <Facts facts={view.facts} />
      {view.limits.length === 0 && <p>It follows no limit now.</p>}
      {view.limits.length > shown.length && (
        <p>{`${shown.length} of ${view.limits.length} limits are shown.`}</p>
      )}
      <ul aria-label="Limits">
        {shown.map((limit) => (
          <LimitCard key={limit.id} limit={limit} observer={view.observer} recorder={recorder} />
        ))}
      </ul>
    </div>
  );
}
