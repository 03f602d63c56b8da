/** Which rows of a list that scrolls are on the screen, all of one height. */
"use client";
import { useCallback, useMemo, useSyncExternalStore } from "react";

export interface Shown {
  first: number;
  /** The row after the last one. */
  end: number;
}

/** Rows are added and taken away by so many, and so many more than fit are there on each side. */
const STEP = 8;
/** Before the list has a size. */
const FIRST_ROWS = 3 * STEP;

/**
 * @param scroller what scrolls; `null` before it is there.
 * @param height of a row, px.
 */
export function useWindow(scroller: HTMLElement | null, count: number, height: number): Shown {
  const subscribe = useCallback(
    (onChange: () => void) => {
      if (!scroller) return () => {};
      const observer =
        typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(onChange);
      observer?.observe(scroller);
      scroller.addEventListener("scroll", onChange, { passive: true });
      return () => {
        observer?.disconnect();
        scroller.removeEventListener("scroll", onChange);
      };
    },
    [scroller],
  );
  // A step is a number, so that a render comes only with another one.
  const firstStep = useSyncExternalStore(
    subscribe,
    () => Math.max(0, Math.floor((scroller?.scrollTop ?? 0) / height / STEP) - 1),
    () => 0,
  );
  const endStep = useSyncExternalStore(
    subscribe,
    () => {
      if (!scroller) return FIRST_ROWS / STEP;
      return Math.ceil((scroller.scrollTop + scroller.clientHeight) / height / STEP) + 1;
    },
    () => FIRST_ROWS / STEP,
  );
  return useMemo(
    () => ({ first: Math.min(firstStep * STEP, count), end: Math.min(endStep * STEP, count) }),
    [firstStep, endStep, count],
  );
}
