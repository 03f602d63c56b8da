/** The pieces that several parts use: a frame, a text that keeps its room, and a time of day. */
import type { ReactNode } from "react";
import { CodePanel } from "./code-panel.js";
import type { Code } from "./code.js";

/** The frame of a part: its title, what it shows in one sentence, its content, and the code behind it. */
export function Part({
  title,
  lead,
  code,
  children,
}: {
  title: string;
  lead: ReactNode;
  code?: Code;
  children: ReactNode;
}) {
  return (
    <section className="part" aria-labelledby="part-title">
      <div className="intro">
        {/* The title gets the focus when the visitor comes from another part. */}
        <h1 id="part-title" tabIndex={-1}>
          {title}
        </h1>
        <p>{lead}</p>
      </div>
      {children}
      {code && <CodePanel code={code} />}
    </section>
  );
}

/**
 * Shows one of several texts in the room that the longest text needs, so that nothing moves when a
 * countdown begins. The texts lie on top of each other; the hidden texts only keep the room.
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
