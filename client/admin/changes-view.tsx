/** What operators have changed lately, of one limit or of all of them. */
"use client";
import { type ReactElement, useId } from "react";
import { useAdmin } from "./admin-context.js";
import { ChangesList } from "./changes-list.js";
import { LimitChoice, useChosenLimit } from "./limit-choice.js";
import { Loading, Nothing } from "./notes.js";
import { whyNoAnswer } from "./why-no-answer.js";
import { usePollOfChanges } from "./use-poll-of-changes.js";

/** The changes that are shown. */
const COUNT = 100;

export function ChangesView(): ReactElement {
  const { client, changes, formats } = useAdmin();
  const name = useChosenLimit();
  const id = useId();
  const { data, error } = usePollOfChanges(JSON.stringify(name ?? null), (signal) =>
    client.changes({ ...(name !== undefined && { name }), count: COUNT }, signal),
  );
  return (
    <section className="rla-card rla-tall" aria-labelledby={id}>
      <div className="rla-card-head">
        <h2 id={id}>Changes</h2>
        <LimitChoice name={name} />
      </div>
      {!data && error === undefined && <Loading>Asking for the changes…</Loading>}
      {!data && error !== undefined && <Nothing>{whyNoAnswer(error)}</Nothing>}
      {data && !data.kept && (
        <Nothing>
          This limiter has no overrides, and so keeps no changes: see its option overrides.
        </Nothing>
      )}
      {data?.kept && data.items.length === 0 && (
        <Nothing>Nobody has changed anything here.</Nothing>
      )}
      {data && data.items.length > 0 && (
        <ChangesList items={data.items} onChanged={(change) => changes.tell(change.name, change)} />
      )}
      {data && data.items.length >= COUNT && (
        <p className="rla-quiet">{`The newest ${formats.number(COUNT)}.`}</p>
      )}
    </section>
  );
}
