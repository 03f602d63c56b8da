/** One limit: what was granted and denied, who is limited now, and the latest denials. */
"use client";
import { memo, type ReactElement, useEffect, useId } from "react";
import { useAdmin } from "./admin-context.js";
import type { AdminLimit } from "./admin-types.js";
import type { Formats } from "./formats.js";
import { Denials } from "./denials.js";
import { lazyPart } from "./lazy-part.js";
import { LimitedList } from "./limited-list.js";
import { Loading, Nothing } from "./notes.js";
import { usePlaces } from "./place-context.js";
import { type Choice, RadioRow } from "./radio-row.js";
import { useLimited } from "./use-limited.js";

/** Loaded while the server answers the first questions. */
export const UsageChart = lazyPart(async () => (await import("./usage-chart.js")).UsageChart);

type Which = "limited" | "all";

const WHICH: readonly Choice<Which>[] = [
  { id: "limited", label: "Limited now" },
  { id: "all", label: "All" },
];

export interface Limited {
  name: string;
  count: number;
  hasMore: boolean;
}

/** Renders only when it has something new to show, and not when the tabs have. */
export const LimitView = memo(function LimitView({
  limit,
  onLimited,
}: {
  limit: AdminLimit;
  /** Tells how many keys the list of limited keys shows, so that the tab of the limit says the same. */
  onLimited: (limited: Limited) => void;
}): ReactElement {
  const { formats } = useAdmin();
  const { place, go } = usePlaces();
  const which = place.tab === "all" ? "all" : "limited";
  const id = useId();
  return (
    <div className="rla-limit">
      <header className="rla-head">
        <h2 translate="no">{limit.name}</h2>
        <p className="rla-quiet">{limitText(limit, formats)}</p>
      </header>
      <div className="rla-chart" data-dates={/\d/.test(place.range ?? "")}>
        <UsageChart limit={limit} />
      </div>
      <section className="rla-card rla-limited" aria-labelledby={id}>
        <div className="rla-card-head">
          <h3 id={id}>Keys</h3>
          <RadioRow
            legend="Which keys"
            choices={WHICH}
            chosen={which}
            onChoose={(next) => go({ tab: next === "all" ? next : undefined }, false)}
          />
        </div>
        <Keys key={which} limit={limit} which={which} onLimited={onLimited} />
      </section>
      <Denials name={limit.name} />
    </div>
  );
});

function Keys({
  limit,
  which,
  onLimited,
}: {
  limit: AdminLimit;
  which: Which;
  onLimited: (limited: Limited) => void;
}) {
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
  const [count, hasMore] = [items.length, next !== undefined];
  const isKnown = isThere && which === "limited";
  useEffect(() => {
    if (isKnown) onLimited({ name: limit.name, count, hasMore });
  }, [isKnown, limit.name, count, hasMore, onLimited]);
  if (!isThere && error === undefined) return <Loading>Asking the server…</Loading>;
  if (!isThere) return <Nothing>Not known: the server has not answered yet.</Nothing>;
  if (count === 0) return <Nothing>{nothingText(limit, which)}</Nothing>;
  return (
    <>
      <LimitedList limit={limit} limited={limited} isAll={which === "all"} />
      <p className="rla-quiet">{countText(count, hasMore, which, formats.number)}</p>
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
