/** The wait, on screen and for screen readers. Only this component renders for each tick. */
"use client";
import {
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useInsertionEffect,
  useRef,
  useSyncExternalStore,
} from "react";
import { announce } from "./announce.js";
import { CountdownContext } from "./countdown-context.js";
import { useCountdown } from "./use-countdown.js";
import { warnOfMixedWords } from "./warn-of-mixed-words.js";
import { type CountdownWords, wordsOf } from "./words.js";

/** The properties of `RateLimitCountdown`. */
export interface RateLimitCountdownProps extends CountdownWords {
  /** Until when, epoch ms on this machine's clock: `status.retryAt`. */
  retryAt: number | undefined;
  /**
   * Shows a number of whole seconds above 0; `text` is the default text for it. Return one text, or
   * elements that have one text each: in a page that the browser translates, texts beside each other do
   * not change any more.
   * @default "5s", "2m 5s", "1h 2m"; from 12 hours on "at 9:00 AM on Tuesday"
   */
  children?: (seconds: number, text: string) => ReactNode;
  /**
   * The text that screen readers announce. Called with the seconds when the wait starts, and with 0 when it
   * is over. An empty text announces nothing.
   * @default "Wait 5 seconds", "Wait 3 minutes", "Wait until 9:00 AM on Tuesday"; "You can go on"
   */
  announcement?: (seconds: number) => string;
  /** CSS classes of the element with the text, which is there while the wait lasts. @default none */
  className?: string | undefined;
}

/**
 * Shows nothing once the wait is over. A live region at the end of the page announces the start and
 * the end of the wait to screen readers; the ticks are silent.
 *
 * The outer element stays, hidden, when there is no wait. Browsers that translate a page put elements
 * of their own in place of its texts. If the outer element came later, React would have to insert it
 * before such a text, and would not find that text. At the end of the wait, the inner element takes all
 * texts of `children` with it.
 *
 * @example
 * function Wait() {
 *   const { status } = useRateLimit("sendMessage");
 *   return (
 *     <RateLimitCountdown retryAt={status?.retryAt}>
 *       {(seconds, text) => <p>Try again in {text}</p>}
 *     </RateLimitCountdown>
 *   );
 * }
 */
export function RateLimitCountdown({
  retryAt = 0,
  children,
  announcement,
  className,
  ...props
}: RateLimitCountdownProps): ReactElement {
  const seconds = useCountdown(retryAt);
  const above = useContext(CountdownContext);
  const words = wordsOf(props, above);
  // Hydration has to render the same text as the server, and that text has no time of day.
  const hasClock = useSyncExternalStore(
    neverChanges,
    () => true,
    () => false,
  );
  const isWaiting = seconds > 0;
  const say = announcement ?? ((left: number) => words(left, retryAt, true));
  const latest = useRef({ retryAt, seconds, say });
  // An insertion effect, since it runs before the cleanup below, which reads `latest`.
  useInsertionEffect(() => {
    latest.current = { retryAt, seconds, say };
  });
  useEffect(() => {
    if (!isWaiting) return undefined;
    // With texts of its own, the countdown needs no labels.
    if (!children || !announcement) warnOfMixedWords(props, above);
    announce(latest.current.say(latest.current.seconds));
    return () => {
      const { current } = latest;
      // A countdown that is unmounted before its end has nothing to announce.
      announce(current.seconds === 0 || current.retryAt <= Date.now() ? current.say(0) : "");
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- One warning is enough, by any of the words.
  }, [isWaiting]);
  const text = isWaiting ? words(seconds, hasClock ? retryAt : undefined) : "";
  return (
    <span hidden={!isWaiting}>
      {isWaiting && (
        <span
          // No role: a button whose text is a timer has no name.
          aria-live="off"
          className={className}
          data-state="waiting"
          // The server may have other words for the same wait, by an older version of `Intl`.
          suppressHydrationWarning
        >
          {children ? children(seconds, text) : text}
        </span>
      )}
    </span>
  );
}

const neverChanges = () => () => {};
