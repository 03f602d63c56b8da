/** One limit of one key: its state in words, its rows, holds and slots, and the actions. */
"use client";
import { type ReactElement, useId, useRef } from "react";
import { levelOf } from "../../core/levels.js";
import { CLOSED } from "../../core/rows/bucket.js";
import { useAdmin } from "./admin-context.js";
import { KeyActions } from "./key-actions.js";
import type { NamedChange } from "./admin-client.js";
import type { AdminKeyLimit, AdminLimit, AdminOverride, KeyInput } from "./admin-types.js";
import type { Formats } from "./formats.js";
import { Bar, configText, leftText, OverrideBadge, overrideText, Wait } from "./pieces.js";
import { sumOf } from "./usage-ranges.js";

export function KeyCard({
  limit,
  of: state,
  target,
  onChanged,
}: {
  limit: AdminLimit;
  of: AdminKeyLimit;
  target: KeyInput;
  onChanged: (changed: readonly NamedChange[]) => void;
}): ReactElement {
  const { formats } = useAdmin();
  const id = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const { item } = state;
  const overrides = overridesOf(state);
  const [override, ...beneath] = overrides;
  const isLimited = (item.retryAfter ?? 0) > 0;
  return (
    <section className="rla-card rla-key-card" aria-labelledby={id} data-limited={isLimited}>
      <div className="rla-card-head">
        <h3 ref={title} id={id} tabIndex={-1} translate="no">
          {limit.name}
        </h3>
        {/* Without an override of its own, the override of all keys may count. */}
        <OverrideBadge override={override ?? item.override} />
      </div>
      {beneath.length > 0 && (
        <p className="rla-quiet">
          {`Beneath it: ${beneath.map((each) => overrideText(each, formats)).join(", ")}.`}
        </p>
      )}
      <p className="rla-quiet">{configText(limit, item, formats)}</p>
      <div className="rla-line rla-state">
        <strong>{`${leftText(item, formats)} ${limit.kind === "concurrency" ? "free" : "left"}`}</strong>
        {isLimited && (
          <span className="rla-until">
            <Wait item={item} over="may go on now" say={formats.goesOn} />
          </span>
        )}
      </div>
      <Bar item={item} />
      <Facts limit={limit} state={state} />
      <KeyActions
        limit={limit}
        target={target}
        overrides={overrides}
        plan={item.plan}
        onChanged={onChanged}
        onGone={() => title.current?.focus()}
      />
    </section>
  );
}

/** A server of an earlier version says only which override counts: that of the key, or that of all keys. */
function overridesOf({ item, overrides }: AdminKeyLimit): readonly AdminOverride[] {
  const { key, override } = item;
  return overrides ?? (override && override.key === key ? [override] : []);
}

function Facts({ limit, state }: { limit: AdminLimit; state: AdminKeyLimit }) {
  const { formats } = useAdmin();
  const { rows } = state;
  const { number, exactTime } = formats;
  const facts = factsOf(state, formats);
  if (facts.length === 0 && rows.length === 0) return null;
  return (
    <>
      {facts.length > 0 && (
        <dl className="rla-facts">
          {facts.map(([term, text]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      {rows.length > 0 && (
        <details className="rla-details">
          <summary>{rows.length === 1 ? "1 row" : `${number(rows.length)} rows`}</summary>
          <div
            className="rla-table-frame"
            tabIndex={0}
            role="group"
            aria-label={`Rows of ${limit.name}`}
          >
            <table className="rla-table">
              <thead>
                <tr>
                  <th scope="col">Shard</th>
                  <th scope="col" className="rla-number">
                    Used
                  </th>
                  <th scope="col">At</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ shard, used, ts }) => (
                  <tr key={shard}>
                    <td>{shard}</td>
                    <td className="rla-number">{used === CLOSED ? "closed" : number(used)}</td>
                    <td>{`${used === CLOSED ? "until " : ""}${exactTime(ts)}`}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
    </>
  );
}

function factsOf(state: AdminKeyLimit, { number, exactTime, time }: Formats): [string, string][] {
  const { item, holds = [], slots, usage } = state;
  const facts: [string, string][] = [];
  if (item.since !== undefined) facts.push(["Limited since", exactTime(item.since)]);
  if (usage) {
    const { granted, denied } = sumOf(usage);
    facts.push(["Last day", `${number(granted)} granted, ${number(denied)} denied`]);
  }
  const level = levelOf(item.config, item.value);
  if (level !== undefined) facts.push(["Warned at", `${number(level * 100)} %`]);
  if (item.held) facts.push(["Held", number(item.held)]);
  for (const { once, count, then, until } of holds) {
    facts.push([`Hold ${once}`, `${number(count)}, until ${time(until)}, then ${then}`]);
  }
  if (slots) {
    const { holders, waiting } = slots;
    facts.push(["In the slots", `${number(holders.length)} of ${number(slots.slots)}`]);
    facts.push(["In line", number(waiting)]);
  }
  return facts;
}
