/** A button that fills until it opens, and a line that says when, for a press that comes too early. */
import {
  type ButtonHTMLAttributes,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useCountdown } from "trpc-rate-limit/react";
import { Stable } from "./pieces.js";
import { RateLimitCountdown } from "./trpc.js";
import "./wait-button.css";

interface WaitButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> {
  /** The instant at which the button is full, epoch ms. `undefined`: the button does not fill. */
  retryAt: number | undefined;
  /** Whether the button shows the wait, and must not act before its end. @default until `retryAt` */
  isWaiting?: boolean | undefined;
  /** `false` for another reason than the wait, such as an empty field. @default true */
  isReady?: boolean | undefined;
  /** The longest labels of the button, which is as wide as the widest of them at all times. */
  texts?: readonly string[] | undefined;
  /** The label while the button is open. */
  children: ReactNode;
}

/**
 * The button is never really disabled, so that it keeps the focus, and Enter still reaches the form. The
 * form's `onSubmit` checks whether it may act. If it may not, it says when; see {@link useNotYet}.
 */
export function WaitButton({
  retryAt,
  isWaiting = retryAt !== undefined,
  isReady = true,
  texts,
  className = "",
  children,
  ...rest
}: WaitButtonProps) {
  return (
    <button
      {...rest}
      className={`wait ${className}`}
      aria-disabled={isWaiting || !isReady}
      data-filling={retryAt !== undefined}
    >
      <Fill until={retryAt} />
      <Stable
        texts={["Wait 30s", ...(texts ?? [])]}
        shown={
          isWaiting ? (
            <>
              <span>Wait </span>
              <RateLimitCountdown retryAt={retryAt} />
            </>
          ) : (
            children
          )
        }
      />
    </button>
  );
}

/** One animation for each instant, which the browser runs by itself. A hidden page runs none. */
function Fill({ until }: { until: number | undefined }) {
  const fill = useRef<HTMLSpanElement>(null);
  const wait = useRef({ since: 0, until: 0 });
  useLayoutEffect(() => {
    if (until === undefined || until === Infinity) {
      wait.current.until = 0;
      return undefined;
    }
    const now = Date.now();
    // When the instant moves, the part of the wait that has passed still counts.
    const since = wait.current.until > now ? wait.current.since : now;
    wait.current = { since, until };
    const duration = Math.max(1, until - since);
    const animation = fill.current!.animate({ transform: ["scaleX(0)", "scaleX(1)"] }, duration);
    animation.currentTime = now - since;
    return () => animation.cancel();
  }, [until]);
  return <span ref={fill} className="fill" aria-hidden="true" />;
}

/**
 * The line "Not yet: in 3 s", for a `role="status"`. A screen reader hears it once for each press; on
 * screen it counts down, and goes away at the end of the wait.
 *
 * @param retryAt the end of the wait, epoch ms; `undefined` while there is none.
 */
export function useNotYet(retryAt: number | undefined) {
  const [said, setSaid] = useState<number>();
  const seconds = useCountdown(retryAt);
  const isOver = seconds === 0;
  // The line was about the wait that is over, so clear it before the next wait.
  if (isOver && said !== undefined) setSaid(undefined);

  const line =
    said === undefined || isOver ? undefined : (
      <>
        <span className="hidden">{`Not yet: in ${waitOf(said)}.`}</span>
        <span aria-hidden="true">{`Not yet: in ${waitOf(seconds)}.`}</span>
      </>
    );
  return { line, sayNotYet: () => setSaid(seconds) };
}

/** "9 s", and from a minute on "4 min 9 s". */
function waitOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
