/** The links to the views. Where places have no address, they are buttons. */
"use client";
import { type MouseEvent, type ReactElement, useRef } from "react";
import type { Place } from "./place.js";
import { usePlaces } from "./place-context.js";
import { VIEWS, type View } from "./views.js";

export function ViewLinks({ shown }: { shown: View }): ReactElement {
  const { place, go, hrefOf } = usePlaces();
  /** The limit that each view has shown last. */
  const limits = useRef(new Map<View, string | undefined>());

  function follow(event: MouseEvent, view: View): void {
    // Leave another tab, another window and a download to the browser.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    limits.current.set(shown, place.limit);
    if (view !== shown || place.key)
      go({ ...placeOf(view), limit: limits.current.get(view) }, true);
  }

  return (
    <nav className="rla-views" aria-label="Views">
      {VIEWS.map((view) => {
        const href = hrefOf(placeOf(view));
        const link = {
          className: "rla-view",
          "aria-current": view === shown ? ("page" as const) : undefined,
          onClick: (event: MouseEvent) => follow(event, view),
          children: view.label,
        };
        return href === undefined ? (
          <button key={view.id} type="button" {...link} />
        ) : (
          <a key={view.id} href={href} {...link} />
        );
      })}
    </nav>
  );
}

/** The range goes along, so that two views can be compared. */
function placeOf(view: View): Place {
  const id = view === VIEWS[0] ? undefined : view.id;
  return { view: id, limit: undefined, key: undefined, tab: undefined };
}
