/** Two lines: what the page predicted in the last minute, and what the server's answer says. */
"use client";
import type { ReactElement } from "react";
import type { Lines } from "./history.js";

export function Sparkline({
  lines: { predicted, answered, label },
}: {
  lines: Lines;
}): ReactElement {
  return (
    <div className="trl-lines">
      <svg viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
        <path d={answered} data-line="answered" vectorEffect="non-scaling-stroke" />
        <path d={predicted} data-line="predicted" vectorEffect="non-scaling-stroke" />
      </svg>
      <p aria-hidden="true">
        <span data-line="predicted">predicted</span> <span data-line="answered">answered</span>, 1
        min
      </p>
    </div>
  );
}
