/**
 * The tick of all countdowns of a control room: one timer, however many rows are shown, and no timer
 * while nothing counts down. A row renders only when its own text changes.
 */
"use client";
import { createContext, useContext, useSyncExternalStore } from "react";

export interface Ticker {
  subscribe(onTick: () => void): () => void;
  /** The server's time, epoch ms, by its answers. */
  now(): number;
  /** An answer has come, with the server's time in it. */
  hear(serverNow: number): void;
}

/** How much the delays of two answers may differ, ms. */
const JITTER = 400;

export function createTicker(): Ticker {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  /** The server's time minus this machine's. */
  let offset = 0;
  return {
    subscribe(onTick) {
      listeners.add(onTick);
      timer ??= setInterval(() => {
        for (const listener of listeners) listener();
      }, 1000);
      return () => {
        listeners.delete(onTick);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    now: () => Date.now() + offset,
    hear(serverNow) {
      const heard = serverNow - Date.now();
      // The delays of answers differ. Following each answer would make countdowns jump.
      if (Math.abs(heard - offset) > JITTER) offset = heard;
    },
  };
}

export const TickerContext = createContext<Ticker | undefined>(undefined);

/**
 * Whole seconds until an instant of the server, rounded up; 0 once that instant has come. Renders when
 * the number changes, at most once a second.
 */
export function useSecondsUntil(at: number | undefined): number {
  const ticker = useContext(TickerContext)!;
  const seconds = () =>
    at === undefined ? 0 : Math.max(0, Math.ceil((at - ticker.now()) / 1000 - 0.05));
  return useSyncExternalStore(at === undefined ? noTicks : ticker.subscribe, seconds, () => 0);
}

const noTicks = () => () => {};
