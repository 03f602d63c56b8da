/** The latest denials of a limit, newest first. */
"use client";
import { type ReactElement, useId } from "react";
import { isNever } from "../../core/config.js";
import { useAdmin } from "./admin-context.js";
import type { AdminDenials } from "./admin-types.js";
import { KeyButton } from "./key-button.js";
import { Loading, Nothing } from "./notes.js";
import { SHARED } from "./pieces.js";
import { usePoll } from "./use-poll.js";
import { useRoving } from "./use-roving.js";

const SHOWN = 50;

export function Denials({ name }: { name: string }): ReactElement {
  const { client, formats, interval } = useAdmin();
  const id = useId();
  const { data, error } = usePoll(
    name,
    (signal) => client.denials({ name, count: SHOWN }, signal),
    interval,
  );
  return (
    <section className="rla-card rla-denials" aria-labelledby={id}>
      <div className="rla-card-head">
        <h3 id={id}>Latest denials</h3>
        {data && (
          <p className="rla-quiet">{`of this process, since ${formats.time(data.since)}`}</p>
        )}
      </div>
      {!data && error === undefined && <Loading>Asking for the latest denials…</Loading>}
      {!data && error !== undefined && (
        <Nothing>Not known: the server has not answered yet.</Nothing>
      )}
      {data?.items.length === 0 && <Nothing>None so far.</Nothing>}
      {data && data.items.length > 0 && <Table id={id} items={data.items} />}
    </section>
  );
}

function Table({ id, items }: { id: string; items: AdminDenials["items"] }) {
  const { formats } = useAdmin();
  const rows = numbered(items);
  const roving = useRoving(rows.map((row) => row.id));
  return (
    <div className="rla-table-frame" role="group" aria-labelledby={id}>
      <table className="rla-table">
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Key</th>
            <th scope="col" className="rla-number">
              Wait
            </th>
          </tr>
        </thead>
        <tbody {...roving.rows}>
          {rows.map(({ id: row, at, key, count, retryAfter }) => (
            <tr key={row}>
              <td>{formats.exactTime(at)}</td>
              <td>
                <KeyButton of={key} without={SHARED} roving={roving.button(row)} />
                {count !== 1 && <span className="rla-quiet">{`for ${formats.number(count)}`}</span>}
              </td>
              <td className="rla-number">
                {isNever(retryAfter) ? "no end" : formats.duration(retryAfter)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/**
 * The denials with ids. Several calls of a key may be denied in one ms. Number them from the oldest,
 * because new denials come first in the list, and must not change the ids of old ones.
 */
function numbered<T extends { at: number; key?: string | undefined }>(items: readonly T[]) {
  const times = new Map<string, number>();
  const rows: (T & { id: string })[] = [];
  for (const item of [...items].reverse()) {
    const same = `${item.at} ${item.key ?? ""}`;
    const time = (times.get(same) ?? 0) + 1;
    times.set(same, time);
    rows.push({ ...item, id: `${same} ${time}` });
  }
  return rows.reverse();
}
