/** A button that fills until its limit lets a call pass, and says how long that takes. */
"use client";
import {
  type ComponentPropsWithRef,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
} from "react";
import { CountdownContext } from "../../countdown/countdown-context.js";
import { RateLimitCountdown } from "../../countdown/rate-limit-countdown.js";
import { wordsOf } from "../../countdown/words.js";
import { type RateLimitContextValue, useLimit } from "../../react/use-limit.js";

/** The argument of a child function of `RateLimitButton`. */
export interface ShownButton {
  /** `"ready"`, `"waiting"`, or `"unknown"` while nothing is known of the limit. */
  readonly state: "ready" | "waiting" | "unknown";
  /** Whole tokens that remain; `undefined` while nothing is known. Reading it follows refills. */
  readonly remaining: number | undefined;
  /** The wait, such as "1m 34s"; empty without a wait. */
  readonly text: string;
}

/** The properties of `RateLimitButton`: those of a `button`, and the limit. */
export interface RateLimitButtonProps<TName extends string> extends Omit<
  ComponentPropsWithRef<"button">,
  "name" | "children"
> {
  /** The limit. */
  name: TName;
  /** The `key` of `useRateLimit`. @default the visitor's own */
  limitKey?: string | undefined;
  /** Tokens that the call would take. @default 1 */
  count?: number | undefined;
  /**
   * The label, or a function that gives the label of each state. Give one text, since a screen reader
   * runs texts of several elements together.
   * @default "Wait 34 seconds" in place of the label during a wait
   */
  children?: ReactNode | ((shown: ShownButton) => ReactNode);
}

/**
 * The button has no colours of its own. `styles.css` has a look for the fill. The button is
 * `aria-disabled` during a wait, so that it keeps the focus, and then does neither call `onClick` nor
 * submit its form.
 */
export function useButton(
  context: RateLimitContextValue,
  {
    name,
    limitKey: key,
    count = 1,
    children,
    className = "",
    onClick,
    ...rest
  }: RateLimitButtonProps<string>,
): ReactElement {
  const limit = useLimit(context, name, { key, count });
  const words = useContext(CountdownContext);
  const { retryAt } = limit.status ?? {};
  const state = limit.status === undefined ? "unknown" : limit.status.ok ? "ready" : "waiting";
  const isWaiting = state === "waiting";

  const labelOf = (text: string, otherwise: ReactNode) =>
    typeof children !== "function"
      ? otherwise
      : children({
          state,
          text,
          get remaining() {
            return limit.value;
          },
        });

  function press(event: MouseEvent<HTMLButtonElement>): void {
    if (isWaiting) event.preventDefault();
    else onClick?.(event);
  }

  return (
    <button
      {...rest}
      className={`rate-limit-button ${className}`.trim()}
      data-state={state}
      aria-disabled={isWaiting || rest["aria-disabled"]}
      onClick={press}
    >
      <Fill until={retryAt} />
      <RateLimitCountdown retryAt={retryAt}>
        {(seconds, text) => labelOf(text, wordsOf({}, words)(seconds, retryAt, true))}
      </RateLimitCountdown>
      {!isWaiting && <span>{labelOf("", children as ReactNode)}</span>}
    </button>
  );
}

/** One animation for each wait, which the browser runs by itself. Nothing renders while it runs. */
function Fill({ until = 0 }: { until?: number | undefined }): ReactElement {
  const fill = useRef<HTMLSpanElement>(null);
  const wait = useRef({ since: 0, until: 0 });
  useEffect(() => {
    const now = Date.now();
    // When the instant moves, the part of the wait that has passed still counts.
    const since = wait.current.until > now ? wait.current.since : now;
    wait.current = { since, until };
    const duration = until - since;
    // Test environments have no animations. Credits never come back by themselves.
    if (!fill.current?.animate || !(duration > 0 && duration < Infinity)) return undefined;
    if (matchMedia("(prefers-reduced-motion)").matches) return undefined;
    const animation = fill.current.animate({ transform: ["scaleX(0)", "scaleX(1)"] }, duration);
    animation.currentTime = now - since;
    return () => animation.cancel();
  }, [until]);
  return <span ref={fill} className="rate-limit-button-fill" aria-hidden="true" />;
}
