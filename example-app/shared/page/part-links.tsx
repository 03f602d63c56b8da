/** The links to all parts: a row where there is room for it, and a menu on a phone. */
import { useEffect, useRef } from "react";

export interface PartLink {
  id: string;
  title: string;
}

/** The same width as in styles.css. */
const NARROW = "(max-width: 840px)";

export function PartLinks({ parts, shown }: { parts: readonly PartLink[]; shown: PartLink }) {
  const list = useRef<HTMLUListElement>(null);

  // The open menu is for narrow windows. A phone that is turned may have a wide window.
  useEffect(() => {
    const narrow = matchMedia(NARROW);
    const close = () => list.current?.hidePopover();
    narrow.addEventListener("change", close);
    return () => narrow.removeEventListener("change", close);
  }, []);

  return (
    <nav aria-label="Parts of the demo">
      <button type="button" className="menu" popoverTarget="parts">
        <span className="hidden">Parts of the demo. Shown: </span>
        {shown.title}
      </button>
      {/* The browser closes the menu on Escape, and on a press elsewhere. */}
      <ul ref={list} id="parts" popover="auto">
        {parts.map(({ id, title }) => (
          <li key={id}>
            <a
              // Checkers take a link to "#id" that is scrolled out of sight for a skip link.
              href={`./#${id}`}
              aria-current={id === shown.id ? "page" : undefined}
              onClick={() => list.current?.hidePopover()}
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
