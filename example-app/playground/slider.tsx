/**
 * A slider below a field. The slider has a stop for each number that people often choose; the field takes
 * any number.
 */
import type { ChangeEvent } from "react";

/** The numbers of a limit, in the order of the form. Times are in seconds. */
export const STOPS = {
  rate: [1, 2, 3, 5, 6, 10, 15, 20, 30, 60, 100, 120, 200, 300, 600, 1_000, 10_000],
  period: [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600],
  capacity: [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1_000],
  blockFor: [0, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
} as const;

interface SliderProps {
  label: string;
  stops: readonly number[];
  /** The text of the field. */
  value: string;
  disabled?: boolean;
  onSlide: (value: string) => void;
}

export function Slider({ label, stops, value, disabled, onSlide }: SliderProps) {
  return (
    <input
      type="range"
      min={0}
      max={stops.length - 1}
      value={nearestStop(stops, Number(value))}
      aria-label={label}
      aria-valuetext={value}
      disabled={disabled}
      onChange={({ target }: ChangeEvent<HTMLInputElement>) =>
        onSlide(String(stops[Number(target.value)]))
      }
    />
  );
}

/** @returns the place of the largest stop that is not above the number. */
function nearestStop(stops: readonly number[], value: number): number {
  return Math.max(
    0,
    stops.findLastIndex((stop) => stop <= value),
  );
}
