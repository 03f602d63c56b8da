/** The limits, and one of them. */
"use client";
import { type ReactElement, useId, useState } from "react";
import { useAdmin } from "./admin-context.js";
import { type Limited, LimitView } from "./limit-view.js";
import { Loading } from "./notes.js";
import type { Place } from "./place.js";
import { usePlaces } from "./place-context.js";
import { Tabs } from "./tabs.js";
import { countText, useCounts } from "./use-counts.js";

export function LimitsView(): ReactElement {
  const { limits } = useAdmin().limits;
  const { place, go } = usePlaces();
  const id = useId();
  const limitOf = (where: Place) => limits.find(({ name }) => name === where.limit);
  const chosen = limitOf(place);
  const { counts, isCounting } = useCounts((name) => {
    // Open the first limit that limits a key. A limit that was chosen stays, also one that was chosen
    // while the count was on its way.
    go((before) => (limitOf(before) ? before : { limit: name }), false);
  });
  const [limited, setLimited] = useState<Limited>();
  const shown = chosen ?? limits[0]!;
  return (
    <div className="rla-body">
      <Tabs
        id={id}
        chosen={shown.name}
        counts={limited?.name === shown.name ? withListed(counts, limited) : counts}
        onChoose={(name, isStep) => go({ limit: name, key: undefined }, isStep)}
      />
      <div
        id={`${id}-panel`}
        role="tabpanel"
        aria-labelledby={`${id}-${limits.indexOf(shown)}`}
        className="rla-panel"
      >
        {/* Until it is known which limit opens: to show another one first would ask for it in vain. */}
        {!chosen && isCounting ? (
          <Loading>Looking for limited keys…</Loading>
        ) : (
          <LimitView key={shown.name} limit={shown} onLimited={setLimited} />
        )}
      </div>
    </div>
  );
}

/** The list is read more often than the other limits are counted, so the tab says what the list says. */
function withListed(counts: Record<string, string> | undefined, { name, count, hasMore }: Limited) {
  return { ...counts, [name]: countText(count, hasMore) };
}
