/** Which keys were denied most, or took most, of one limit or of all of them. */
"use client";
import { type ReactElement, useId } from "react";
import { useAdmin } from "./admin-context.js";
import type { AdminTop, AdminTopInput, AdminTopSource } from "./admin-types.js";
import { Figures } from "./figures.js";
import type { Formats } from "./formats.js";
import { LimitChoice, useChosenLimit } from "./limit-choice.js";
import { Loading, Nothing } from "./notes.js";
import { usePlaces } from "./place-context.js";
import { type Choice, RadioRow } from "./radio-row.js";
import { RangeRow } from "./range-row.js";
import { endsOf, rangeOf, RANGES, rangeWords } from "./usage-ranges.js";
import { usePoll } from "./use-poll.js";
import { whyNoAnswer } from "./why-no-answer.js";
import { WhoTable } from "./who-table.js";

type By = AdminTopInput["by"];

const BY: readonly Choice<By>[] = [
  { id: "denied", label: "Denied most" },
  { id: "taken", label: "Took most" },
];
/** Keys that are asked for. */
const COUNT = 25;
/** ms between two looks, at least: the server adds up many rows for each. */
const INTERVAL = 10_000;

export function WhoView(): ReactElement {
  const { client, formats, interval } = useAdmin();
  const { place, go } = usePlaces();
  const id = useId();
  const by: By = place.tab === "taken" ? "taken" : "denied";
  const range = rangeOf(place.range, RANGES);
  const name = useChosenLimit();
  const { data, error } = usePoll(
    JSON.stringify([name, by, range]),
    (signal) => {
      const ends = endsOf(range, Date.now());
      return client.top({ ...(name !== undefined && { name }), ...ends, by, count: COUNT }, signal);
    },
    Math.max(INTERVAL, interval),
  );
  return (
    <section className="rla-card rla-top-keys" aria-labelledby={id}>
      <div className="rla-card-head">
        <h2 id={id}>Who</h2>
        <RangeRow ranges={RANGES} range={range} />
      </div>
      <div className="rla-line rla-choices">
        <RadioRow
          legend="In which order"
          choices={BY}
          chosen={by}
          onChoose={(next) => go({ tab: next === "taken" ? next : undefined }, false)}
        />
        <LimitChoice name={name} />
      </div>
      <Figures sums={data?.total} when={rangeWords(range, formats)} />
      <div className="rla-top-rows">
        {!data && error === undefined && <Loading>Adding up…</Loading>}
        {!data && error !== undefined && <Nothing>{whyNoAnswer(error)}</Nothing>}
        {data?.items.length === 0 && (
          <Nothing>{`No calls in ${rangeWords(range, formats)}.`}</Nothing>
        )}
        {data && data.items.length > 0 && (
          <WhoTable key={by} id={id} items={data.items} by={by} hasNames={name === undefined} />
        )}
      </div>
      {data && <Sources data={data} />}
    </section>
  );
}

/** Where the numbers are from. Limits that say the same stand in one sentence. */
function Sources({ data }: { data: AdminTop }) {
  const { formats } = useAdmin();
  const names = new Map<string, string[]>();
  for (const source of data.sources) {
    const text = sourceText(source, formats);
    names.set(text, [...(names.get(text) ?? []), source.name]);
  }
  return (
    <div className="rla-quiet rla-sources">
      {data.items.length >= COUNT && <p>{`The first ${formats.number(COUNT)} keys.`}</p>}
      {[...names].map(([text, of]) => (
        <p key={text}>
          {names.size > 1 && <span translate="no">{`${of.join(", ")}: `}</span>}
          <span>{`${text}.`}</span>
        </p>
      ))}
    </div>
  );
}

function sourceText({ source, since }: AdminTopSource, { time }: Formats): string {
  return {
    usage: `from usage, complete since ${time(since)}`,
    processes: `from what all processes saw since ${time(since)}`,
    process: `from this process since ${time(since)}`,
  }[source];
}
