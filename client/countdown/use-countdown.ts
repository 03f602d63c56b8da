/** Seconds until an instant, for people to read. Renders once a second, and never after the end. */
"use client";
import { useContext, useMemo, useSyncExternalStore } from "react";
import { createWait } from "../clocks.js";
import { CountdownContext } from "./countdown-context.js";

/**
 * Whole seconds until `retryAt`, rounded up, so that a countdown shows 1 until the very end. 0 when the
 * instant has come or is `undefined`. On the server, and while its page is hydrated, the seconds are
 * those of the prefetched snapshot, and 0 without one: the server's clock is not the reader's.
 *
 * @param retryAt epoch ms on this machine's clock.
 *
 * @example
 * import { useCountdown } from "trpc-rate-limit/countdown";
 *
 * function Seconds({ retryAt }: { retryAt: number | undefined }) {
 *   return <output>{useCountdown(retryAt)}</output>;
 * }
 */
export function useCountdown(retryAt: number = 0): number {
  const { subscribe, seconds } = useMemo(() => createCountdown(retryAt), [retryAt]);
  const rendered = useContext(CountdownContext).seconds?.get(retryAt) ?? 0;
  return useSyncExternalStore(subscribe, seconds, () => rendered);
}

function createCountdown(retryAt: number) {
  let counted: (() => number) | undefined;
  // Created only when needed: a server that renders a page ahead of time may not read clocks.
  const wait = () => (counted ??= createWait(retryAt))();
  return {
    seconds: () => Math.max(0, Math.ceil(wait() / 1000)),
    subscribe(onTick: () => void) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      function arm(): void {
        const ms = wait();
        // Tick at the end of each second, counted back from the end of the wait.
        if (ms > 0 && ms < Infinity) timer = setTimeout(tick, ((ms - 1) % 1000) + 1);
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
