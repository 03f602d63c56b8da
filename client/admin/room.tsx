/** The part below the search: the views, and one view or one key. */
"use client";
import { type ReactElement, useEffect, useRef } from "react";
import { lazyPart } from "./lazy-part.js";
import { usePlaces } from "./place-context.js";
import { ViewLinks } from "./view-links.js";
import { VIEWS, viewOf } from "./views.js";

const KeyView = lazyPart(async () => (await import("./key-view.js")).KeyView);

export function Room(): ReactElement {
  const { place, go } = usePlaces();
  const view = viewOf(place.view);
  const { key: input } = place;
  const panel = useRef<HTMLDivElement>(null);
  const isOpen = input !== undefined;
  // A press on a key should not wait for code.
  useEffect(() => void KeyView.preload(), []);

  // The element that opened the key gets the focus back, so that the visitor is at the same place again.
  const opener = useRef<Element>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const before = panel.current!;
    return () => {
      // This runs after the render that shows the view again.
      const target = opener.current;
      opener.current = null;
      if (document.activeElement !== document.body) return;
      if (target instanceof HTMLElement && before.contains(target)) target.focus();
      else before.focus({ preventScroll: true });
    };
  }, [isOpen]);

  return (
    <>
      {VIEWS.length > 1 && <ViewLinks shown={view} />}
      {/* The view stays, with its scroll position, while a key is shown. */}
      <div
        ref={panel}
        hidden={isOpen}
        tabIndex={-1}
        className="rla-panel"
        onFocus={({ target }) => {
          if (!isOpen) opener.current = target;
        }}
      >
        <view.Component key={view.id} />
      </div>
      {input && (
        <KeyView
          key={JSON.stringify(input)}
          input={input}
          first={place.limit}
          back={view === VIEWS[0] && place.limit !== undefined ? place.limit : view.label}
          onBack={() => go({ key: undefined }, true)}
        />
      )}
    </>
  );
}
