/** Makes the buttons of a table one stop of Tab. The arrow keys, Home and End move the focus among them. */
"use client";
import { type KeyboardEvent, useRef, useState } from "react";
import { useKeptFocus } from "./use-kept-focus.js";

/**
 * @param ids of the rows, in their order. Each row has one button with the class `rla-key`.
 * @returns the id of the row that Tab reaches, and the handlers of the element with the rows.
 */
export function useRoving(ids: readonly string[]) {
  const [wanted, setWanted] = useState<string>();
  const active = wanted !== undefined && ids.includes(wanted) ? wanted : ids[0];
  const rows = useRef<HTMLTableSectionElement>(null);
  const buttons = () => [...rows.current!.querySelectorAll<HTMLElement>("button.rla-key")];

  const [, focus] = useKeptFocus(() => buttons()[0]?.focus());

  return {
    active,
    rows: {
      ref: rows,
      onKeyDown(event: KeyboardEvent) {
        const all = buttons();
        const index = all.indexOf(document.activeElement as HTMLElement);
        const to = {
          ArrowDown: index + 1,
          ArrowUp: index - 1,
          Home: 0,
          End: all.length - 1,
        }[event.key];
        if (to === undefined || index < 0) return;
        event.preventDefault();
        all[Math.max(0, Math.min(all.length - 1, to))]!.focus();
      },
      ...focus,
    },
    /** The properties of the button of a row. */
    button: (id: string) => ({
      tabIndex: id === active ? 0 : -1,
      onFocus: () => setWanted(id),
    }),
  };
}
