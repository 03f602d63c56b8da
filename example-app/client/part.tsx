/** The frame of a part: its title, and in one sentence what it shows. */
import type { ReactNode } from "react";

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
