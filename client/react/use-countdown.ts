/** Seconds until an instant, for people to read. Renders once a second, and never after the end. */
"use client";
import { useMemo, useSyncExternalStore } from "react";
import { createWait } from "../clocks.js";

/**
 * Whole seconds until `retryAt`, rounded up, so that it shows 1 until the very end. 0 when the
 * instant has come or is `undefined`. 0 on the server, because its clock is not the reader's.
 *
 * @param retryAt epoch ms on this machine's clock.
 */
export function useCountdown(retryAt: number = 0): number {
  const { subscribe, seconds } = useMemo(() => createCountdown(retryAt), [retryAt]);
  return useSyncExternalStore(subscribe, seconds, () => 0);
}

function createCountdown(retryAt: number) {
  const wait = createWait(retryAt);
  return {
    seconds: () => Math.max(0, Math.ceil(wait() / 1000)),
    subscribe(onTick: () => void) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      function arm(): void {
        const ms = wait();
        // Tick at the end of each second, counted back from the end of the wait.
        if (ms > 0 && ms !== Infinity) timer = setTimeout(tick, ((ms - 1) % 1000) + 1);
      }
      function tick(): void {
        onTick();
        arm();
      }
      arm();
      return () => clearTimeout(timer);
    },
  };
}
