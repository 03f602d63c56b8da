/** The part below the search: the limits, and one limit or one key. */
"use client";
import { type ReactElement, useEffect, useId, useRef } from "react";
import { useAdmin } from "./admin-context.js";
import type { AdminLimit, KeyInput } from "./admin-types.js";
import { KeyView } from "./key-view.js";
import { LimitView } from "./limit-view.js";
import { Tabs } from "./tabs.js";

export function Room({
  shown,
  input,
  onChoose,
  onCount,
  onBack,
}: {
  shown: AdminLimit;
  /** The key that is shown; `undefined` while a limit is shown. */
  input: KeyInput | undefined;
  onChoose: (name: string) => void;
  onCount: (name: string) => void;
  onBack: () => void;
}): ReactElement {
  const { limits } = useAdmin().limits;
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const isOpen = input !== undefined;

  // The element that opened the key gets the focus back, so that the visitor is at the same place again.
  const opener = useRef<Element>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const before = panel.current!;
    return () => {
      // This runs after the render that shows the limit again.
      const target = opener.current;
      opener.current = null;
      if (document.activeElement !== document.body) return;
      if (target instanceof HTMLElement && before.contains(target)) target.focus();
      else before.focus({ preventScroll: true });
    };
  }, [isOpen]);

  return (
    <div className="rla-body">
      <Tabs id={id} chosen={shown.name} onChoose={onChoose} onCount={onCount} />
      <div
        ref={panel}
        id={`${id}-panel`}
        role="tabpanel"
        aria-labelledby={`${id}-${limits.indexOf(shown)}`}
        tabIndex={-1}
        className="rla-panel"
        onFocus={({ target }) => {
          if (!isOpen) opener.current = target;
        }}
      >
        {/* The limit stays, with its scroll position, while a key is shown. */}
        <div hidden={isOpen}>
          <LimitView key={shown.name} limit={shown} />
        </div>
        {input && (
          <KeyView key={JSON.stringify(input)} input={input} first={shown.name} onBack={onBack} />
        )}
      </div>
    </div>
  );
}
