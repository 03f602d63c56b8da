/**
 * The tokens that remain of a limit, as a bar. The bar is SVG, and attributes give its width: a
 * `style-src` without `'unsafe-inline'` drops the style attributes of a page that a server has rendered.
 * `styles.css` beside this file adds the rest: both schemes, forced colours, sizes, right to left.
 */
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
   * Fills the bar between whole tokens, too, in time with the refill: by one animation for each change of the
   * limit, without a render. Screen readers still hear whole tokens. Fills in steps where visitors
   * prefer reduced motion, and for fixed windows, slots, credits and more than two shards.
   * @default false
   */
  smooth?: boolean | undefined;
  /**
   * CSS classes beside `rate-limit-meter`, the class of the stylesheet. Colours are the variables
   * `--rate-limit-meter-fill` and `--rate-limit-meter-track`; with the stylesheet, sizes are
   * `--rate-limit-meter-height` and `--rate-limit-meter-radius`. The attribute `data-state` is
   * `"empty"`, `"low"` (the last token of three or more, or a quarter of the capacity) or `"ok"`. The
   * attribute is missing while nothing is known.
   * @default none
   */
  className?: string | undefined;
  /**
   * Styles of the bar. A `Content-Security-Policy` without `'unsafe-inline'` drops them from a page that
   * a server has rendered. Use `className` there.
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
    className = "",
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
      data-state={value === undefined ? undefined : stateOf(remaining, capacity)}
      className={`rate-limit-meter ${className}`.trim()}
      style={style}
    >
      <svg width="100%" height="8">
        <rect width="100%" height="100%" fill="var(--rate-limit-meter-track, #ddd)" />
        <rect
          // Another element, because an animation stays with its element.
          key={+smooth}
          // A new function at each render, so that React calls it after each change. No function without
          // `smooth`: a bar may have a transition of the application's.
          ref={smooth ? (bar) => fillSmoothly(bar, full.check(), capacity, width) : undefined}
          width={width}
          height="100%"
          fill="var(--rate-limit-meter-fill, #2563eb)"
        />
      </svg>
    </div>
  );
}

/** The last token is low, and so is a quarter of the capacity; half of it never is. */
function stateOf(remaining: number, capacity: number): "ok" | "low" | "empty" {
  if (remaining <= 0) return "empty";
  return remaining * 2 < capacity && remaining <= Math.max(1, capacity / 4) ? "low" : "ok";
}

function formatRemaining(value: number | undefined, capacity: number): string {
  return value === undefined ? "unknown" : `${value} of ${capacity}`;
}
