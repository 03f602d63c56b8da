/** The panel: what each observer of the page knows. It reads them several times a second. */
"use client";
import { type ReactElement, useEffect, useState } from "react";
import type { RateLimitObserver } from "../types.js";
import { STYLES } from "./styles.js";
import { type Fact, type LimitView, type ObserverView, viewOf } from "./view.js";

/**
 * ms between two looks. The panel asks, because a list of listeners in the observer would be loaded
 * by every page, and because ages and countdowns change without any event.
 */
const INTERVAL = 200;

export function Panel({
  observers,
  theme,
}: {
  /** Observers come and go while the panel is open. */
  observers: ReadonlySet<RateLimitObserver>;
  theme: "light" | "dark";
}): ReactElement {
  const views = useViews(observers);
  return (
    // It scrolls, also by keyboard.
    <section className="trl-devtools" data-theme={theme} aria-label="Rate limits" tabIndex={0}>
      <style>{STYLES}</style>
      {views.length === 0 && <p>This page follows no rate limit.</p>}
      {views.map((view) => (
        <Observer key={view.id} view={view} />
      ))}
    </section>
  );
}

/** Renders only when a text changes. */
function useViews(observers: ReadonlySet<RateLimitObserver>): ObserverView[] {
  const [views, setViews] = useState(() => Array.from(observers, viewOf));
  useEffect(() => {
    const look = () => {
      const next = Array.from(observers, viewOf);
      setViews((shown) => (JSON.stringify(shown) === JSON.stringify(next) ? shown : next));
    };
    look();
    const timer = setInterval(look, INTERVAL);
    return () => clearInterval(timer);
  }, [observers]);
  return views;
}

function Observer({ view }: { view: ObserverView }) {
  return (
    <div className="trl-observer">
      <Facts facts={view.facts} />
      {view.limits.length === 0 && <p>It follows no limit now.</p>}
      <ul>
        {view.limits.map((limit) => (
          <Limit key={limit.id} limit={limit} />
        ))}
      </ul>
    </div>
  );
}

function Limit({ limit }: { limit: LimitView }) {
  const { name, key, statuses, fill, facts, error } = limit;
  return (
    <li>
      <h2>
        {name}
        {key !== undefined && <code>{key}</code>}
      </h2>
      {statuses.map(({ count, state, text }) => (
        <p key={count} className="trl-status" data-state={state}>
          {count === 1 ? text : `for ${count}: ${text}`}
        </p>
      ))}
      {fill !== undefined && (
        <div className="trl-bar" aria-hidden="true">
          <div style={{ width: `${fill * 100}%` }} />
        </div>
      )}
      <Facts facts={facts} />
      {error !== undefined && <p className="trl-error">The server does not tell: {error}</p>}
    </li>
  );
}

function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(([term, text]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
