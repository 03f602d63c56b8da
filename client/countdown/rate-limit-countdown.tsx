/** The wait, on screen and for screen readers. Only this component renders for each tick. */
"use client";
import { type ReactElement, type ReactNode, useEffect, useInsertionEffect, useRef } from "react";
import { announce } from "./announce.js";
import { useCountdown } from "./use-countdown.js";

/** The properties of `RateLimitCountdown`. */
export interface RateLimitCountdownProps {
  /** Until when, epoch ms on this machine's clock: `status.retryAt`. */
  retryAt: number | undefined;
  /**
   * Shows a number of whole seconds above 0. Return one text, or elements that have one text each: in
   * a page that the browser translates, texts beside each other do not change any more.
   * @default "5s", "2m 5s", "1h 2m", "9d 14h"
   */
  children?: (seconds: number) => ReactNode;
  /**
   * The text that screen readers announce. Called with the seconds when the wait starts, and with 0 when it
   * is over. An empty text announces nothing.
   * @default "Wait 5 seconds", "Wait 3 minutes", "Wait 10 days"; "You can go on"
   */
  announcement?: (seconds: number) => string;
  /** CSS classes of the element of the role `timer`, which is there while the wait lasts. @default none */
  className?: string | undefined;
}

/**
 * Shows nothing once the wait is over. A live region at the end of the page announces the start and
 * the end of the wait to screen readers; the ticks are silent.
 *
 * The outer element stays, hidden, when there is no wait. Browsers that translate a page put elements
 * of their own in place of its texts. An element that came later would have to go before such a text,
 * where React no longer finds it. The inner element takes all texts of `children` with it at the end.
 */
export function RateLimitCountdown({
  retryAt,
  children = formatWait,
  announcement = sayWait,
  className,
}: RateLimitCountdownProps): ReactElement {
  const seconds = useCountdown(retryAt);
  const isWaiting = seconds > 0;
  const latest = useRef({ retryAt, seconds, announcement });
  // An insertion effect, since it runs before the cleanup below, which reads it.
  useInsertionEffect(() => {
    latest.current = { retryAt, seconds, announcement };
  });
  useEffect(() => {
    if (!isWaiting) return undefined;
    announce(latest.current.announcement(latest.current.seconds));
    return () => {
      const { retryAt: end = 0, seconds: remaining, announcement: say } = latest.current;
      // A countdown that is unmounted before its end has nothing to announce.
      announce(remaining === 0 || end <= Date.now() ? say(0) : "");
    };
  }, [isWaiting]);
  return (
    <span hidden={!isWaiting}>
      {isWaiting && (
        <span role="timer" aria-live="off" className={className} data-state="waiting">
          {children(seconds)}
        </span>
      )}
    </span>
  );
}

/** The largest unit first. */
const UNITS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** The two largest units. */
function formatWait(seconds: number): string {
  if (seconds === Infinity) return "never";
  let rest = seconds;
  return UNITS.flatMap(([size, [letter]]) => {
    const number = Math.floor(rest / size);
    rest %= size;
    return seconds < size ? [] : number + letter!;
  })
    .slice(0, 2)
    .join(" ");
}

function sayWait(seconds: number): string {
  if (seconds === 0) return "You can go on";
  if (seconds === Infinity) return "You cannot go on";
  const [size, unit] = UNITS.find((each) => seconds >= each[0])!;
  const number = Math.ceil(seconds / size);
  return `Wait ${number} ${unit}${number === 1 ? "" : "s"}`;
}
