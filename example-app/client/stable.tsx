/**
 * Shows one of several texts in the room that the longest of them needs, so that nothing moves when
 * a countdown begins. The texts lie on top of each other; the others are there for their size.
 */
import type { ReactNode } from "react";

export function Stable({ shown, texts }: { shown: ReactNode; texts: readonly string[] }) {
  return (
    <span className="stable">
      <span>{shown}</span>
      {texts.map((text) => (
        <span key={text} aria-hidden="true">
          {text}
        </span>
      ))}
    </span>
  );
}
