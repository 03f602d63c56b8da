/** Seconds until an instant, for people to read: renders once a second and not at all when done. */
"use client";
import { useMemo, useSyncExternalStore } from "react";
import { timeLeft } from "./time-left.js";

/**
 * Whole seconds until `retryAt`, rounded up, so that it shows 1 until the very end; 0 when it has
 * come, is `undefined`, or on the server, whose clock is not the reader's.
 *
 * @param retryAt epoch ms on this machine's clock.
 */
export function useCountdown(retryAt: number = 0): number {
  const { subscribe, seconds } = useMemo(() => createCountdown(retryAt), [retryAt]);
  return useSyncExternalStore(subscribe, seconds, () => 0);
}

function createCountdown(retryAt: number) {
  const left = timeLeft(retryAt);
  return {
    seconds: () => Math.max(0, Math.ceil(left() / 1000)),
    subscribe(onTick: () => void) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const arm = () => {
        const ms = left();
        // At the end of each second, counted back from the end.
        if (ms > 0 && ms !== Infinity) timer = setTimeout(tick, ((ms - 1) % 1000) + 1);
      };
      const tick = () => {
        onTick();
        arm();
      };
      arm();
      return () => clearTimeout(timer);
    },
  };
}
