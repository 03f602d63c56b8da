/**
 * The links to all parts. In a wide window, a row has the groups and the parts of the group that is shown.
 * On a phone, a menu has all parts below the names of their groups.
 */
import { useEffect, useRef } from "react";

export interface PartLink {
  id: string;
  title: string;
}

export interface PartGroup {
  title: string;
  /** The link of the group leads to the first part. */
  parts: readonly [PartLink, ...PartLink[]];
}

/** The same width as in styles.css. */
const NARROW = "(max-width: 960px)";
// Checkers take a link to "#id" that is scrolled out of sight for a skip link.
const hrefOf = ({ id }: PartLink) => `./#${id}`;

export function PartLinks({ groups, shown }: { groups: readonly PartGroup[]; shown: PartLink }) {
  const menu = useRef<HTMLDivElement>(null);
  const isShown = ({ parts }: PartGroup) => parts.some(({ id }) => id === shown.id);

  // The open menu is for narrow windows. A phone that is turned may have a wide window.
  useEffect(() => {
    const narrow = matchMedia(NARROW);
    const close = () => menu.current?.hidePopover();
    narrow.addEventListener("change", close);
    return () => narrow.removeEventListener("change", close);
  }, []);

  return (
    <nav aria-label="Parts of the demo">
      <button type="button" className="menu" popoverTarget="parts">
        <span className="hidden">Parts of the demo. Shown: </span>
        {shown.title}
      </button>
      <ul className="groups">
        {groups.map((group) => (
          <li key={group.title}>
            <a href={hrefOf(group.parts[0])} aria-current={isShown(group) ? "true" : undefined}>
              {group.title}
            </a>
          </li>
        ))}
      </ul>
      {/* The browser closes the menu on Escape, and on a press elsewhere. */}
      <div ref={menu} id="parts" popover="auto">
        {groups.map((group) => (
          <div key={group.title} data-shown={isShown(group)}>
            <p id={`group-${group.parts[0].id}`}>{group.title}</p>
            <ul aria-labelledby={`group-${group.parts[0].id}`}>
              {group.parts.map((part) => (
                <li key={part.id}>
                  <a
                    href={hrefOf(part)}
                    aria-current={part.id === shown.id ? "page" : undefined}
                    onClick={() => menu.current?.hidePopover()}
                  >
                    {part.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </nav>
  );
}
