/** Keeps the focus in a list or a table whose row with the focus may be gone with the next answer. */
"use client";
import { type FocusEvent, useLayoutEffect, useRef } from "react";

/**
 * @param focusOther gives the focus to another row.
 * @returns whether the focus is in the list, and the handlers of the element with the rows.
 */
export function useKeptFocus(focusOther: () => void) {
  const hasFocus = useRef(false);
  useLayoutEffect(() => {
    if (hasFocus.current && document.activeElement === document.body) focusOther();
  });
  const handlers = {
    onFocus: () => (hasFocus.current = true),
    onBlur: ({ target, relatedTarget }: FocusEvent) => {
      // A row that is removed loses the focus, too, although the visitor has not left the list.
      if (relatedTarget !== null || target.isConnected) hasFocus.current = false;
    },
  };
  return [hasFocus, handlers] as const;
}
