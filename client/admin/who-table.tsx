/** The top keys as a table that can be sorted by each of its columns. A press opens a key. */
"use client";
import { type ReactElement, useMemo, useState } from "react";
import { useAdmin } from "./admin-context.js";
import type { AdminTopItem } from "./admin-types.js";
import { compareKeys } from "./compare-keys.js";
import { KeyButton } from "./key-button.js";
import { Part } from "./part.js";
import { SHARED } from "./pieces.js";
import { useRoving } from "./use-roving.js";

type Column = "key" | "granted" | "denied" | "taken" | "share";

const COLUMNS: readonly { id: Column; label: string }[] = [
  { id: "key", label: "Key" },
  { id: "granted", label: "Granted" },
  { id: "denied", label: "Denied" },
  { id: "taken", label: "Taken" },
  { id: "share", label: "Share" },
];

interface Sorting {
  by: Column;
  isDown: boolean;
}

export function WhoTable({
  id,
  items,
  by,
  hasNames,
}: {
  /** Of the heading. */
  id: string;
  items: readonly AdminTopItem[];
  /** How the server has sorted them. */
  by: Column;
  /** Whether the rows are of several limits. */
  hasNames: boolean;
}): ReactElement {
  const { formats } = useAdmin();
  const [sorting, setSorting] = useState<Sorting>({ by, isDown: true });
  const rows = useMemo(() => sorted(items, sorting), [items, sorting]);
  const roving = useRoving(rows.map(rowId));
  // The longest bar is full. Of a hundred keys with a hundredth each, no bar could be seen.
  const most = Math.max(...items.map(({ share }) => share));
  return (
    <div className="rla-table-frame" role="group" aria-labelledby={id} data-by={by}>
      <table className="rla-table">
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <Head key={column.id} {...column} sorting={sorting} onSort={setSorting} />
            ))}
          </tr>
        </thead>
        <tbody {...roving.rows}>
          {rows.map((item) => (
            <tr key={rowId(item)}>
              <th scope="row">
                <KeyButton of={item.key} without={SHARED} roving={roving.button(rowId(item))} />
                {hasNames && (
                  <span className="rla-quiet rla-name" translate="no">
                    {item.name}
                  </span>
                )}
              </th>
              <td className="rla-number">{formats.number(item.granted)}</td>
              <td className="rla-number">{formats.number(item.denied)}</td>
              <td className="rla-number">{formats.number(item.taken)}</td>
              <td className="rla-number rla-share">
                <Part part={most > 0 ? item.share / most : 0} />
                <span>{formats.percent(item.share)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head({
  id,
  label,
  sorting,
  onSort,
}: {
  id: Column;
  label: string;
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
}) {
  const isOne = sorting.by === id;
  const { isDown } = sorting;
  return (
    <th
      scope="col"
      className={id === "key" ? undefined : "rla-number"}
      aria-sort={isOne ? (isDown ? "descending" : "ascending") : undefined}
    >
      <button
        type="button"
        className="rla-sort"
        // Numbers from the largest, keys from A.
        onClick={() => onSort({ by: id, isDown: isOne ? !isDown : id !== "key" })}
      >
        <span>{label}</span>
        <span aria-hidden="true">{isOne ? (isDown ? "▾" : "▴") : ""}</span>
      </button>
    </th>
  );
}

/** Equal rows stand in the order of their keys, so that they do not change places with each answer. */
function sorted(items: readonly AdminTopItem[], { by, isDown }: Sorting): AdminTopItem[] {
  const byKey = (a: AdminTopItem, b: AdminTopItem) =>
    compareKeys(a.key, b.key) || compareKeys(a.name, b.name);
  const sign = isDown ? -1 : 1;
  return [...items].sort((a, b) =>
    by === "key" ? sign * byKey(a, b) : sign * (a[by] - b[by]) || byKey(a, b),
  );
}

function rowId({ name, key = "" }: AdminTopItem): string {
  return JSON.stringify([name, key]);
}
