/** Puts the focus on the title of a part that the visitor opens, once the part is there. */
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";

export function useArrivals(main: RefObject<HTMLElement | null>) {
  /** The title of the part, for screen readers. */
  const [news, setNews] = useState("");
  const last = useRef<string>(undefined);

  function onArrival(title: string) {
    const isFirst = last.current === undefined;
    const isSame = last.current === title;
    last.current = title;
    // At first load, the focus stays where the browser has put it.
    if (isFirst || isSame) return;
    // A part may begin with a field that has the focus. The field keeps it, and a screen reader reads the
    // title.
    const hasFocus = main.current?.contains(document.activeElement) === true;
    setNews(hasFocus ? title : "");
    if (!hasFocus) main.current?.querySelector("h1")?.focus({ preventScroll: true });
  }
  return { news, onArrival };
}

/** Stands in `Suspense` beside a part, and tells when the part is there. */
export function Arrival({
  title,
  onArrival,
}: {
  title: string;
  onArrival: (title: string) => void;
}) {
  const arrive = useEffectEvent(onArrival);
  useEffect(() => arrive(title), [title]);
  return null;
}
