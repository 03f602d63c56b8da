/** The tokens that remain of a limit, as a bar. Needs no style sheet, and takes CSS variables. */
"use client";
import type { CSSProperties } from "react";
import { capacityOf } from "../../core/config.js";
import type { UseRateLimitResult } from "./use-limit.js";

export interface MeterProps {
  /** The name of the bar for screen readers, such as "Messages left". */
  label: string;
  /**
   * The figure in words, for screen readers; `value` is `undefined` while nothing is known.
   * @default "2 of 3", "unknown"
   */
  text?: ((value: number | undefined, capacity: number) => string) | undefined;
  /** The CSS class of the bar. @default none */
  className?: string | undefined;
  /**
   * Colours and sizes are the variables `--rate-limit-meter-fill`, `--rate-limit-meter-track`,
   * `--rate-limit-meter-height` and `--rate-limit-meter-radius`.
   */
  style?: CSSProperties | undefined;
}

/** Whole tokens out of the whole capacity; empty while the limit is in debt. */
export function Meter({
  limit,
  label,
  text = formatRemaining,
  className,
  style,
}: MeterProps & { limit: UseRateLimitResult }) {
  const { value, config } = limit;
  // A capacity below 1 never holds a whole token, and still needs a scale.
  const capacity = Math.max(1, Math.floor(config ? capacityOf(config) : 1));
  const remaining = Math.min(value ?? 0, capacity);
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
      <div style={{ ...FILL, width: `${(remaining / capacity) * 100}%` }} />
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
