"use client";
import { type ComponentProps, useEffect, useRef } from "react";
import { RateLimitCountdown, useRateLimit } from "./lib/rate-limits.js";
import { Button } from "./ui/button.js";

interface RateLimitButtonProps extends Omit<ComponentProps<typeof Button>, "name"> {
  /** The limit. */
  name: Parameters<typeof useRateLimit>[0];
  /** The `key` of `useRateLimit`. */
  limitKey?: string;
  /** Tokens that the call would take. */
  count?: number;
}

/** A button that fills until its limit lets a call pass, and keeps the focus meanwhile. */
export function RateLimitButton({
  name,
  limitKey,
  count = 1,
  className = "",
  onClick,
  children,
  ...props
}: RateLimitButtonProps) {
  const { status } = useRateLimit(name, { key: limitKey, count });
  const isWaiting = status?.ok === false;
  return (
    <Button
      {...props}
      className={`relative isolate overflow-clip aria-disabled:cursor-not-allowed aria-disabled:opacity-80 ${className}`}
      data-state={status === undefined ? "unknown" : isWaiting ? "waiting" : "ready"}
      aria-disabled={isWaiting || undefined}
      onClick={(event) => {
        if (isWaiting) event.preventDefault();
        else onClick?.(event);
      }}
    >
      <Fill until={status?.retryAt} />
      <RateLimitCountdown retryAt={status?.retryAt}>
        {(_seconds, text) => `Wait ${text}`}
      </RateLimitCountdown>
      {!isWaiting && <span>{children}</span>}
    </Button>
  );
}

/** One animation for each wait, which the browser runs by itself. */
function Fill({ until = 0 }: { until?: number | undefined }) {
  const fill = useRef<HTMLSpanElement>(null);
  const wait = useRef({ since: 0, until: 0 });
  useEffect(() => {
    const now = Date.now();
    // When the instant moves, the part of the wait that has passed still counts.
    const since = wait.current.until > now ? wait.current.since : now;
    wait.current = { since, until };
    const duration = until - since;
    if (!fill.current?.animate || !(duration > 0 && duration < Infinity)) return undefined;
    const animation = fill.current.animate({ transform: ["scaleX(0)", "scaleX(1)"] }, duration);
    animation.currentTime = now - since;
    return () => animation.cancel();
  }, [until]);
  return (
    <span
      ref={fill}
      aria-hidden="true"
      className="absolute inset-0 -z-10 origin-left scale-x-0 bg-current opacity-20 motion-reduce:hidden rtl:origin-right"
    />
  );
}
