/** One line whose details a press shows. The whole line can be pressed. */
"use client";
import { type ReactElement, type ReactNode, useId } from "react";

export function Disclosure({
  level: Heading,
  title,
  line,
  isOpen,
  onToggle,
  children,
}: {
  level: "h2" | "h3";
  /** The name of the button: short, because a screen reader may say it anew when it changes. */
  title: ReactNode;
  /** What stands in the line beside the button. */
  line: ReactNode;
  isOpen: boolean;
  onToggle(): void;
  /** The details. They are not there while the line is closed, so that many lines are fast. */
  children: ReactNode;
}): ReactElement {
  const details = useId();
  return (
    <>
      <div className="trl-line" data-open={isOpen || undefined}>
        <Heading>
          <button type="button" aria-expanded={isOpen} aria-controls={details} onClick={onToggle}>
            {title}
          </button>
        </Heading>
        {line}
      </div>
      <div id={details} className="trl-details" hidden={!isOpen}>
        {isOpen && children}
      </div>
    </>
  );
}
