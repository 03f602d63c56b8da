/** What the panel shows of a recorder, looked at again and again. */
"use client";
import { useCallback, useEffect, useState } from "react";
import type { Recorder } from "./recorder.js";
import type { TimelineEvent } from "./timeline.js";
import { type ObserverView, viewOf } from "./view.js";

/**
 * ms between two looks. The panel asks, because a list of listeners in the observer would be loaded
 * by every page, and because ages and countdowns change without any event.
 */
const INTERVAL = 200;

export interface Shown {
  views: ObserverView[];
  events: readonly TimelineEvent[];
  isOffline: boolean;
}

/** @returns what is shown, and a function that looks at once. What has not changed is the same object. */
export function useShown(recorder: Recorder): readonly [shown: Shown, lookAgain: () => void] {
  const [shown, setShown] = useState(() => look(recorder));
  const lookAgain = useCallback(() => {
    const next = look(recorder);
    setShown((last) => kept(last, next));
  }, [recorder]);
  useEffect(() => {
    const timer = setInterval(lookAgain, INTERVAL);
    return () => clearInterval(timer);
  }, [lookAgain]);
  return [shown, lookAgain];
}

function look(recorder: Recorder): Shown {
  recorder.sample();
  return {
    views: Array.from(recorder.observers, (observer) => viewOf(observer, recorder)),
    events: [...recorder.timeline.events],
    isOffline: recorder.network?.isOffline() ?? false,
  };
}

/** The new state, with all that is as before taken from the last one. */
function kept(last: Shown, { views, events, isOffline }: Shown): Shown {
  const next = {
    views: keptList(
      last.views,
      views.map((view) => keptView(last.views, view)),
    ),
    events: keptList(last.events, events),
    isOffline,
  };
  const isSame =
    next.views === last.views && next.events === last.events && isOffline === last.isOffline;
  return isSame ? last : next;
}

function keptView(lastViews: readonly ObserverView[], view: ObserverView): ObserverView {
  const last = lastViews.find(({ id }) => id === view.id);
  if (!last) return view;
  const byRow = new Map(last.limits.map((limit) => [limit.rowId, limit]));
  const limits = keptList(
    last.limits,
    view.limits.map((limit) => {
      const before = byRow.get(limit.rowId);
      return before && JSON.stringify(before) === JSON.stringify(limit) ? before : limit;
    }),
  );
  const { connection, isOpen, facts } = view;
  const isSame =
    limits === last.limits &&
    connection === last.connection &&
    isOpen === last.isOpen &&
    JSON.stringify(facts) === JSON.stringify(last.facts);
  return isSame ? last : { ...view, limits };
}

/** The last list, if the new one has the same objects. */
function keptList<T>(last: readonly T[], next: T[]): T[];
function keptList<T>(last: readonly T[], next: readonly T[]): readonly T[];
function keptList<T>(last: readonly T[], next: readonly T[]): readonly T[] {
  return last.length === next.length && last.every((each, i) => each === next[i]) ? last : next;
}
