/** The tokens that remain of a limit, as a bar. Needs no style sheet, and takes CSS variables. */
"use client";
import type { CSSProperties, ReactElement } from "react";
import { capacityOf } from "../../core/config.js";
import { fillSmoothly } from "./fill-smoothly.js";
import { type RateLimitContextValue, useLimit } from "./use-limit.js";

export interface MeterProps {
  /** The name of the bar for screen readers, such as "Messages left". */
  label: string;
  /**
   * The figure in words, for screen readers; `value` is `undefined` while nothing is known.
   * @default "2 of 3", "unknown"
   */
  text?: ((value: number | undefined, capacity: number) => string) | undefined;
  /**
   * Fills between whole tokens, too, in time with the refill: by one animation for each change of the
   * limit, without a render. Screen readers still hear whole tokens. Fills in steps where visitors
   * prefer reduced motion, and for fixed windows, slots, credits and more than two shards.
   * @default false
   */
  smooth?: boolean | undefined;
  /** The CSS class of the bar. @default none */
  className?: string | undefined;
  /**
   * Colours and sizes are the variables `--rate-limit-meter-fill`, `--rate-limit-meter-track`,
   * `--rate-limit-meter-height` and `--rate-limit-meter-radius`.
   */
  style?: CSSProperties | undefined;
}

/** Whole tokens out of the whole capacity; empty while the limit is in debt. */
export function useMeter(
  context: RateLimitContextValue,
  {
    name,
    limitKey: key,
    label,
    text = formatRemaining,
    smooth = false,
    className,
    style,
  }: MeterProps & { name: string; limitKey?: string | undefined },
): ReactElement {
  const { value, config } = useLimit(context, name, { key });
  // A capacity below 1 never holds a whole token, and still needs a scale.
  const capacity = Math.max(1, Math.floor(config ? capacityOf(config) : 1));
  const remaining = Math.min(value ?? 0, capacity);
  const width = `${(remaining / capacity) * 100}%`;
  const full = useLimit(context, name, {
    key,
    // Such a call passes when the bar is full, so this renders for each change.
    count: capacity,
    // Windows bring their tokens at once.
    enabled: smooth && !!config && config.kind !== "fixed window",
  });
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={capacity}
      aria-valuenow={remaining}
      aria-valuetext={text(value, capacity)}
      className={className}
      style={{ ...TRACK, ...style }}
    >
      <div
        // Another element, because an animation stays with its element.
        key={Number(smooth)}
        // A function that is new at each render, so that it is called after each change. Not called
        // otherwise: a bar may have a transition of the application's.
        ref={smooth ? (bar) => fillSmoothly(bar, full.check(), capacity, width) : undefined}
        style={{ ...FILL, width }}
      />
    </div>
  );
}

const TRACK: CSSProperties = {
  height: "var(--rate-limit-meter-height, 0.5em)",
  borderRadius: "var(--rate-limit-meter-radius, 1em)",
  background: "var(--rate-limit-meter-track, #ddd)",
  overflow: "hidden",
  // Keeps the bar visible where the system forces its own colours.
  forcedColorAdjust: "none",
};

const FILL: CSSProperties = {
  height: "100%",
  background: "var(--rate-limit-meter-fill, #2563eb)",
};

function formatRemaining(value: number | undefined, capacity: number): string {
  return value === undefined ? "unknown" : `${value} of ${capacity}`;
}
