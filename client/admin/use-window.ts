/** Tells which rows of a scrolling list are on the screen. All rows have the same height. */
"use client";
import { useMemo, useSyncExternalStore } from "react";

export interface Shown {
  first: number;
  /** The row after the last one. */
  end: number;
}

/** Rows are added and removed by this many. On each side of the screen, there are as many more rows. */
const STEP = 8;
/** The steps that are there before the list has a size. */
const FIRST_STEPS = 3;

/**
 * @param scroller the element that scrolls; `null` before it exists.
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

/** The steps as a text, because equal texts are the same value: so only another step causes a render. */
function stepsOf(top: number, seen: number, height: number): string {
  const first = Math.max(0, Math.floor(top / height / STEP) - 1);
  const end = seen === 0 ? first + FIRST_STEPS : Math.ceil((top + seen) / height / STEP) + 1;
  return `${first} ${end}`;
}

/**
 * The scroll position of a list, as of its last event. Measured and rejected: asking the element in each
 * render, which makes the browser lay out the page at once after rows have changed (3 s of 24, in 10,000
 * rows).
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
      // The observer also tells the first size.
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
