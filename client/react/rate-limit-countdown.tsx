/** The wait, on screen. Keeps the ticking out of whatever stands around it. */
"use client";
import type { ReactNode } from "react";
import { useCountdown } from "./use-countdown.js";

export interface RateLimitCountdownProps {
  /** Until when, epoch ms on this machine's clock: `status.retryAt`. */
  retryAt: number | undefined;
  /**
   * What to show for a number of whole seconds above 0.
   * @default "5s", "2m 5s", "1h 2m"
   */
  children?: (seconds: number) => ReactNode;
}

/** Shows nothing once the wait is over. */
export function RateLimitCountdown({ retryAt, children = formatWait }: RateLimitCountdownProps) {
  const seconds = useCountdown(retryAt);
  if (seconds === 0) return null;
  return <span role="timer">{children(seconds)}</span>;
}

function formatWait(seconds: number): string {
  if (seconds === Infinity) return "never";
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}m ${seconds % 60}s`
    : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
