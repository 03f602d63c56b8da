/** One limit: who is limited now, what was granted and denied, and the latest denials. */
"use client";
import { type ReactElement, useEffect, useId, useState } from "react";
import { useAdmin } from "./admin-context.js";
import type { AdminLimit } from "./admin-types.js";
import type { Formats } from "./formats.js";
import { Denials } from "./denials.js";
import { LimitedList } from "./limited-list.js";
import { Loading, Nothing } from "./notes.js";
import { type Choice, RadioRow } from "./radio-row.js";
import { UsageChart } from "./usage-chart.js";
import { useLimited } from "./use-limited.js";

type Which = "limited" | "all";

const WHICH: readonly Choice<Which>[] = [
  { id: "limited", label: "Limited now" },
  { id: "all", label: "All" },
];

export function LimitView({ limit }: { limit: AdminLimit }): ReactElement {
  const { formats } = useAdmin();
  const [which, setWhich] = useState<Which>("limited");
  const id = useId();
  return (
    <div className="rla-limit">
      <header className="rla-head">
        <h2 translate="no">{limit.name}</h2>
        <p className="rla-quiet">{limitText(limit, formats)}</p>
      </header>
      <section className="rla-card rla-limited" aria-labelledby={id}>
        <div className="rla-card-head">
          <h3 id={id}>Keys</h3>
          <RadioRow legend="Which keys" choices={WHICH} chosen={which} onChoose={setWhich} />
        </div>
        <Keys key={which} limit={limit} which={which} />
      </section>
      <UsageChart limit={limit} />
      <Denials name={limit.name} />
    </div>
  );
}

function Keys({ limit, which }: { limit: AdminLimit; which: Which }) {
  const { client, formats, interval, changes } = useAdmin();
  const limited = useLimited(client, limit.name, which === "limited", interval);
  const { data, isThere, error, patch, refresh } = limited;
  useEffect(
    () =>
      changes.listen((name, { item, now }) => {
        if (name !== limit.name) return;
        patch(item, now);
        refresh();
      }),
    [changes, limit.name, patch, refresh],
  );
  const { items, next } = data;
  if (!isThere && error === undefined) return <Loading>Asking the server…</Loading>;
  if (!isThere) return <Nothing>Not known: the server has not answered yet.</Nothing>;
  if (items.length === 0) return <Nothing>{nothingText(limit, which)}</Nothing>;
  return (
    <>
      <LimitedList limit={limit} limited={limited} isAll={which === "all"} />
      <p className="rla-quiet">
        {countText(items.length, next !== undefined, which, formats.number)}
      </p>
    </>
  );
}

/** Such as `free: 5 per month · pro: 50 per month`; without plans, the config alone. */
function limitText({ plans, config, kind }: AdminLimit, formats: Formats): string {
  const ofPlans = plans?.map(({ plan, terms }) => `${plan}: ${formats.config(terms, kind)}`);
  return ofPlans?.join(" · ") ?? formats.config(config, kind);
}

function nothingText({ kind }: AdminLimit, which: Which): string {
  if (which === "all") return "No key has used it yet.";
  return kind === "concurrency" ? "Every key has a free slot." : "Nobody is limited now.";
}

function countText(
  count: number,
  hasMore: boolean,
  which: Which,
  number: (value: number) => string,
): string {
  const keys = count === 1 ? "1 key" : `${number(count)} keys`;
  const known = which === "all" ? keys : `${keys} limited`;
  return hasMore ? `${known} so far, more as you scroll` : known;
}
