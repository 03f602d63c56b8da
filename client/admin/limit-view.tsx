/** One limit: who is limited now, what was granted and denied, and the latest denials. */
"use client";
import { type ReactElement, useId } from "react";
import { useAdmin } from "./admin-context.js";
import type { AdminLimit } from "./admin-types.js";
import { Denials } from "./denials.js";
import { LimitedList } from "./limited-list.js";
import { Loading, Nothing } from "./notes.js";
import { UsageChart } from "./usage-chart.js";
import { useLimited } from "./use-limited.js";

export function LimitView({ limit }: { limit: AdminLimit }): ReactElement {
  const { client, formats, interval } = useAdmin();
  const limited = useLimited(client, limit.name, interval);
  const id = useId();
  const { items, next } = limited.data;
  return (
    <div className="rla-limit">
      <header className="rla-head">
        <h2 translate="no">{limit.name}</h2>
        <p className="rla-quiet">{formats.config(limit.config, limit.kind)}</p>
      </header>
      <section className="rla-card rla-limited" aria-labelledby={id}>
        <div className="rla-card-head">
          <h3 id={id}>Limited now</h3>
          {limited.isThere && items.length > 0 && (
            <p className="rla-quiet">
              {countText(items.length, next !== undefined, formats.number)}
            </p>
          )}
        </div>
        {!limited.isThere && limited.error === undefined && (
          <Loading>Asking who is limited…</Loading>
        )}
        {!limited.isThere && limited.error !== undefined && (
          <Nothing>Not known: the server has not answered yet.</Nothing>
        )}
        {limited.isThere && items.length === 0 && (
          <Nothing>
            {limit.kind === "concurrency" ? "Every key has a free slot." : "Nobody is limited now."}
          </Nothing>
        )}
        {items.length > 0 && <LimitedList limit={limit} limited={limited} />}
      </section>
      <UsageChart limit={limit} />
      <Denials name={limit.name} />
    </div>
  );
}

function countText(count: number, hasMore: boolean, number: (value: number) => string): string {
  if (hasMore) return `the first ${number(count)} keys`;
  return count === 1 ? "1 key" : `${number(count)} keys`;
}
