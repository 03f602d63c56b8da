/** Seconds until an instant, for people to read: renders once a second and not at all when done. */
"use client";
import { useCallback, useSyncExternalStore } from "react";

/**
 * Whole seconds until `retryAt`, rounded up, so that it shows 1 until the very end; 0 when it has
 * come, is `undefined`, or on the server, whose clock is not the reader's.
 *
 * @param retryAt epoch ms on this machine's clock.
 */
export function useCountdown(retryAt: number | undefined): number {
  const subscribe = useCallback(
    (onTick: () => void) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const arm = () => {
        const left = (retryAt ?? 0) - Date.now();
        // At the end of each second, counted back from the end.
        if (left > 0 && left !== Infinity) timer = setTimeout(tick, ((left - 1) % 1000) + 1);
      };
      const tick = () => {
        onTick();
        arm();
      };
      arm();
      return () => clearTimeout(timer);
    },
    [retryAt],
  );
  return useSyncExternalStore(
    subscribe,
    () => secondsUntil(retryAt),
    () => 0,
  );
}

function secondsUntil(retryAt: number | undefined): number {
  return retryAt === undefined ? 0 : Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
}
