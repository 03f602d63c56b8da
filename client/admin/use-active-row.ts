/** Tells which row of a list can have the focus. Only that row's button is reached by Tab. */
"use client";
import { type KeyboardEvent, useCallback, useEffect, useState } from "react";
import { useKeptFocus } from "./use-kept-focus.js";

/**
 * @param height of a row, px.
 * @returns the row, a function that makes another row the active one, what moves the focus by keys, and the
 * handlers of the element with the rows.
 */
export function useActiveRow(scroller: HTMLDivElement | null, count: number, height: number) {
  const [wanted, setWanted] = useState(0);
  const active = Math.min(wanted, count - 1);

  const focusActive = useCallback(
    () => scroller?.querySelector<HTMLElement>('button[tabindex="0"]')?.focus(),
    [scroller],
  );
  const [hasFocus, focus] = useKeptFocus(focusActive);

  function onKeyDown(event: KeyboardEvent): void {
    const element = scroller!;
    const page = Math.max(1, Math.floor(element.clientHeight / height) - 1);
    const to = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const row = Math.max(0, Math.min(count - 1, to));
    const top = row * height;
    const below = top + height - element.clientHeight;
    const { scrollTop } = element;
    if (top < scrollTop || below > scrollTop) {
      element.scrollTo({ top: top < scrollTop ? top : below });
    }
    focus.onFocus();
    setWanted(row);
  }
  // The row exists only after the render.
  useEffect(() => {
    if (hasFocus.current) focusActive();
  }, [active, focusActive, hasFocus]);

  return [active, setWanted, onKeyDown, focus] as const;
}
