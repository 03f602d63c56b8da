/** Which rows of a list that scrolls are on the screen, all of one height. */
"use client";
import { useMemo, useSyncExternalStore } from "react";

export interface Shown {
  first: number;
  /** The row after the last one. */
  end: number;
}

/** Rows are added and taken away by so many, and so many more than fit are there on each side. */
const STEP = 8;
/** Before the list has a size. */
const FIRST_STEPS = 3;

/**
 * @param scroller what scrolls; `null` before it is there.
 * @param height of a row, px.
 */
export function useWindow(scroller: HTMLElement | null, count: number, height: number): Shown {
  const view = useMemo(() => createView(scroller), [scroller]);
  const steps = useSyncExternalStore(
    view.subscribe,
    () => stepsOf(view.top(), view.height(), height),
    () => stepsOf(0, 0, height),
  );
  return useMemo(() => {
    const [first, end] = steps.split(" ").map((step) => Math.min(Number(step) * STEP, count));
    return { first: first!, end: end! };
  }, [steps, count]);
}

/** A text, because equal ones are the same: so a render comes only with another step. */
function stepsOf(top: number, seen: number, height: number): string {
  const first = Math.max(0, Math.floor(top / height / STEP) - 1);
  const end = seen === 0 ? first + FIRST_STEPS : Math.ceil((top + seen) / height / STEP) + 1;
  return `${first} ${end}`;
}

/**
 * Where a list is scrolled to, as of its last event. A render reads it from here: to ask the element after
 * rows have changed makes the browser lay out the page at once. Measured: 3 s of 24 in 10,000 rows.
 */
function createView(scroller: HTMLElement | null) {
  let top = 0;
  let height = 0;
  return {
    top: () => top,
    height: () => height,
    subscribe(onChange: () => void) {
      if (!scroller) return () => {};
      const onScroll = () => {
        top = scroller.scrollTop;
        onChange();
      };
      scroller.addEventListener("scroll", onScroll, { passive: true });
      if (typeof ResizeObserver === "undefined") {
        return () => scroller.removeEventListener("scroll", onScroll);
      }
      // It also tells the first size.
      const observer = new ResizeObserver(([entry]) => {
        height = entry!.contentRect.height;
        onChange();
      });
      observer.observe(scroller);
      return () => {
        observer.disconnect();
        scroller.removeEventListener("scroll", onScroll);
      };
    },
  };
}
