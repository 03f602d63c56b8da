/** A part of a whole, as a picture. A number stands beside it. */
"use client";
import type { ReactElement } from "react";

/** @param part 0 to 1. */
export function Part({ part }: { part: number }): ReactElement {
  const width = Math.min(1, Math.max(0, part)) * 100;
  // An attribute, not a style: a page may allow no inline styles.
  return (
    <svg className="rla-bar" aria-hidden="true" width="100%" height="6">
      <rect className="rla-bar-track" width="100%" height="6" rx="3" />
      {width > 0 && (
        <rect className="rla-bar-fill" width={`${width.toFixed(2)}%`} height="6" rx="3" />
      )}
    </svg>
  );
}
