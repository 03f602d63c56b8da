/** The pieces that several parts use: a frame, a text that keeps its room, and a time of day. */
import type { ReactNode } from "react";

/** The frame of a part: its title, and in one sentence what it shows. */
export function Part({
  title,
  lead,
  children,
}: {
  title: string;
  lead: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="part" aria-labelledby="part-title">
      <div className="intro">
        <h1 id="part-title">{title}</h1>
        <p>{lead}</p>
      </div>
      {children}
    </section>
  );
}

/**
 * Shows one of several texts in the room that the longest of them needs, so that nothing moves when
 * a countdown begins. The texts lie on top of each other; the others are there for their size.
 */
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

/** The time of day of an instant, to the nearest second, on the visitor's clock: 14:05:09. */
export function timeOf(instant: number): string {
  return new Date(Math.round(instant / 1000) * 1000).toLocaleTimeString("en-GB");
}
