/**
 * The keys that are limited now. Only the rows on the screen are in the page, however many keys there are.
 * One row can have the focus; the arrow keys, Page Up and Down, Home and End move it.
 */
"use client";
import { memo, type ReactElement, useEffect, useState } from "react";
import { useAdmin } from "./admin-context.js";
import type { AdminItem, AdminLimit } from "./admin-types.js";
import type { Formats } from "./formats.js";
import { Bar, leftText, OverrideBadge, SHARED, Wait } from "./pieces.js";
import type { Limited } from "./use-limited.js";
import { useActiveRow } from "./use-active-row.js";
import { useWindow } from "./use-window.js";

/** px. As in admin.css. */
const ROW = 56;

interface Props {
  limit: AdminLimit;
  limited: Limited;
  /** Whether the list also has the keys that are not limited. */
  isAll: boolean;
}

export function LimitedList({ limit, limited, isAll }: Props): ReactElement {
  const { items, next } = limited.data;
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null);
  const shown = useWindow(scroller, items.length, ROW);
  const { show } = limited;
  useEffect(() => show(shown.first, shown.end - 1), [show, shown.first, shown.end]);
  const [active, setActive, onKeyDown, focus] = useActiveRow(scroller, items.length, ROW);
  const rows: number[] = [];
  for (let index = shown.first; index < shown.end; index++) rows.push(index);
  // The active row stays in the page, so that Tab finds it and the focus is not lost.
  if (active < shown.first) rows.unshift(active);
  if (active >= shown.end) rows.push(active);
  return (
    <div
      role="grid"
      aria-label={isAll ? `Keys of ${limit.name}` : `Keys that ${limit.name} limits now`}
      aria-readonly="true"
      // The number of keys is known only when the last page was read.
      aria-rowcount={next === undefined ? items.length + 1 : -1}
      aria-colcount={3}
      className="rla-grid"
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="rla-grid-head">
        <div role="row" aria-rowindex={1} className="rla-row-head">
          <span role="columnheader">Key</span>
          <span role="columnheader">{limit.kind === "concurrency" ? "Free" : "Left"}</span>
          <span role="columnheader">Wait</span>
        </div>
      </div>
      <div ref={setScroller} role="rowgroup" className="rla-scroller">
        <div className="rla-rows" style={{ height: items.length * ROW }} {...focus}>
          {rows.map((index) => (
            <Row
              key={keyOf(items[index]!)}
              item={items[index]!}
              index={index}
              isActive={index === active}
              onActive={setActive}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** No key is empty. */
const keyOf = ({ key }: AdminItem) => key ?? "";

const Row = memo(function Row({
  item,
  index,
  isActive,
  onActive,
}: {
  item: AdminItem;
  index: number;
  isActive: boolean;
  onActive: (index: number) => void;
}): ReactElement {
  const { formats, openKey } = useAdmin();
  const { key } = item;
  const open = () => openKey(key === undefined ? {} : { key, stored: true });
  const notes = notesOf(item, formats);
  return (
    // The keyboard and screen readers use the button in the row.
    <div
      role="row"
      aria-rowindex={index + 2}
      className="rla-row"
      style={{ top: index * ROW }}
      onClick={({ currentTarget }) => {
        // So that the focus comes back to the button later.
        currentTarget.querySelector("button")!.focus({ preventScroll: true });
        open();
      }}
    >
      <div role="gridcell" className="rla-who">
        <button
          type="button"
          tabIndex={isActive ? 0 : -1}
          className="rla-key"
          translate={key === undefined ? "yes" : "no"}
          onFocus={() => onActive(index)}
          onClick={(event) => {
            event.stopPropagation();
            open();
          }}
        >
          {key ?? SHARED}
        </button>
        <div className="rla-notes">
          <OverrideBadge override={item.override} />
          {notes.length > 0 && <span>{notes.join(" · ")}</span>}
        </div>
      </div>
      <div role="gridcell" className="rla-left">
        <span>{leftText(item, formats)}</span>
        <Bar item={item} />
      </div>
      <div role="gridcell" className="rla-wait" data-limited={item.retryAfter !== undefined}>
        <Wait item={item} over={item.retryAfter === undefined ? "ok" : "now"} />
      </div>
    </div>
  );
});

/** Beside an override there is no room for more, and "banned until 16:01 s…" reads like a mistake. */
function notesOf({ plan, since, held, override }: AdminItem, formats: Formats): string[] {
  if (override) return [];
  return [
    plan !== undefined && `plan ${plan}`,
    since !== undefined && `since ${formats.exactTime(since)}`,
    held !== undefined && held > 0 && `${formats.number(held)} held`,
  ].filter((note) => note !== false);
}
