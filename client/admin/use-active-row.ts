/** Tells which row of a list can have the focus. Only that row's button is reached by Tab. */
"use client";
import {
  type FocusEvent,
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";

/**
 * @param height of a row, px.
 * @returns the row, a function that makes another row the active one, what moves the focus by keys, and the
 * handlers of the element with the rows.
 */
export function useActiveRow(scroller: HTMLDivElement | null, count: number, height: number) {
  const [wanted, setWanted] = useState(0);
  const active = Math.min(wanted, count - 1);
  const hasFocus = useRef(false);

  const focusActive = useCallback(
    () => scroller?.querySelector<HTMLElement>('button[tabindex="0"]')?.focus(),
    [scroller],
  );
  // The row that had the focus is gone: its key is not limited any more.
  useLayoutEffect(() => {
    if (hasFocus.current && document.activeElement === document.body) focusActive();
  });

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
    hasFocus.current = true;
    setWanted(row);
  }
  // The row exists only after the render.
  useEffect(() => {
    if (hasFocus.current) focusActive();
  }, [active, focusActive]);

  const focus = {
    onFocus: () => (hasFocus.current = true),
    onBlur: ({ target, relatedTarget }: FocusEvent) => {
      // A row that is removed loses the focus, too, although the visitor has not left the list.
      if (relatedTarget !== null || target.isConnected) hasFocus.current = false;
    },
  };
  return [active, setWanted, onKeyDown, focus] as const;
}
