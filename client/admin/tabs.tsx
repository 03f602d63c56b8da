/** The limits, and how many keys each of them limits now. */
"use client";
import { type KeyboardEvent, type ReactElement, type RefObject, useEffect, useRef } from "react";
import { useAdmin } from "./admin-context.js";
import type { Counts } from "./use-counts.js";

export function Tabs({
  id,
  chosen,
  counts,
  onChoose,
}: {
  /** The start of the ids of the tabs and of their panel. */
  id: string;
  chosen: string;
  counts: Counts | undefined;
  /** @param isStep whether the visitor can go back to the limit before. */
  onChoose: (name: string, isStep: boolean) => void;
}): ReactElement {
  const { limits } = useAdmin();
  const names = limits.limits.map(({ name }) => name);
  const list = useShown(chosen);

  function onKeyDown(event: KeyboardEvent): void {
    const index = names.indexOf(chosen);
    const next = {
      ArrowDown: index + 1,
      ArrowRight: index + 1,
      ArrowUp: index - 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: names.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const wanted = (next + names.length) % names.length;
    // An arrow key that is held goes through all limits.
    onChoose(names[wanted]!, false);
    document.getElementById(`${id}-${wanted}`)?.focus();
  }

  return (
    <div ref={list} role="tablist" aria-label="Limits" className="rla-tabs">
      {names.map((name, index) => (
        <button
          key={name}
          type="button"
          role="tab"
          // A name may have spaces, and an id may not.
          id={`${id}-${index}`}
          aria-selected={name === chosen}
          aria-controls={`${id}-panel`}
          tabIndex={name === chosen ? 0 : -1}
          className="rla-tab"
          onClick={() => onChoose(name, true)}
          onKeyDown={onKeyDown}
        >
          <span translate="no">{name}</span>
          <Count text={counts?.[name]} />
        </button>
      ))}
    </div>
  );
}

/** @returns the list that shows the chosen tab. In a narrow page, the tabs are a row that scrolls. */
function useShown(chosen: string): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"]');
    const { left = 0, right = 0 } = tab?.getBoundingClientRect() ?? {};
    const row = list.current?.getBoundingClientRect();
    if (!row || (left >= row.left && right <= row.right)) return;
    list.current!.scrollLeft += left - row.left - 16;
  }, [chosen]);
  return list;
}

/** Its place is there before its number, so that no tab moves when the first count comes. */
function Count({ text = "0" }: { text: string | undefined }) {
  if (text === "0") return <span className="rla-count" />;
  return (
    <span className="rla-count" aria-label={`${text} limited now`} role="img">
      {text}
    </span>
  );
}
