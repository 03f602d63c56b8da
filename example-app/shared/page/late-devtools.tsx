/**
 * The devtools, closed: only their button is seen. The devtools load when the page is there and has
 * nothing else to do. Their button stands beside the content, so a window without room for it has no
 * devtools.
 */
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from "react";

const Devtools = lazy<() => ReactNode>(() =>
  // Without the server there are no devtools, and the page goes on.
  import("./devtools.js").catch(() => ({ default: () => null })),
);
const ROOM = "(min-width: 75rem)";

export function LateDevtools() {
  const isIdle = useIdle();
  const hasRoom = useSyncExternalStore(subscribeRoom, () => matchMedia(ROOM).matches);
  return <Suspense>{isIdle && hasRoom && <Devtools />}</Suspense>;
}

function subscribeRoom(onChange: () => void): () => void {
  const room = matchMedia(ROOM);
  room.addEventListener("change", onChange);
  return () => room.removeEventListener("change", onChange);
}

/** Whether the page has been loaded, and has had nothing to do once. */
function useIdle(): boolean {
  const [isIdle, setIsIdle] = useState(false);
  useEffect(() => {
    const wait = () => {
      // Safari has no `requestIdleCallback`.
      if ("requestIdleCallback" in window) requestIdleCallback(() => setIsIdle(true));
      else setTimeout(() => setIsIdle(true), 1000);
    };
    if (document.readyState === "complete") wait();
    else window.addEventListener("load", wait);
    return () => window.removeEventListener("load", wait);
  }, []);
  return isIdle;
}
