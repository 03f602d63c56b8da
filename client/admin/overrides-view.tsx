/** The overrides of all keys: those that end soon first. */
"use client";
import { type ReactElement, useId } from "react";
import { kindOf } from "../../core/override-kinds.js";
import { useAdmin } from "./admin-context.js";
import type { AdminOverride } from "./admin-types.js";
import { LimitChoice, useChosenLimit } from "./limit-choice.js";
import { KeyButton } from "./key-button.js";
import { Loading, Nothing } from "./notes.js";
import { OverrideBadge } from "./pieces.js";
import { useRoving } from "./use-roving.js";
import { usePollOfChanges } from "./use-poll-of-changes.js";
import { whyNoAnswer } from "./why-no-answer.js";

/** The overrides that are shown. */
const COUNT = 200;

export function OverridesView(): ReactElement {
  const { client, formats } = useAdmin();
  const name = useChosenLimit();
  const id = useId();
  const { data, error } = usePollOfChanges(JSON.stringify(name ?? null), (signal) =>
    client.overrides({ ...(name !== undefined && { name }), count: COUNT }, signal),
  );
  return (
    <section className="rla-card rla-tall" aria-labelledby={id}>
      <div className="rla-card-head">
        <h2 id={id}>Overrides</h2>
        <LimitChoice name={name} />
      </div>
      {!data && error === undefined && <Loading>Asking for the overrides…</Loading>}
      {!data && error !== undefined && <Nothing>{whyNoAnswer(error)}</Nothing>}
      {data && data.items.length === 0 && (
        <Nothing>Every key has what its limit and its plan say.</Nothing>
      )}
      {data && data.items.length > 0 && <Table id={id} items={data.items} />}
      {data && data.items.length > 0 && (
        <p className="rla-quiet">
          {data.total > data.items.length
            ? `The first ${formats.number(data.items.length)} of ${formats.number(data.total)}, those that end soon first.`
            : "Those that end soon first."}
        </p>
      )}
    </section>
  );
}

function Table({ id, items }: { id: string; items: readonly AdminOverride[] }) {
  const { formats } = useAdmin();
  const roving = useRoving(items.map(rowId));
  return (
    <div className="rla-table-frame" role="group" aria-labelledby={id}>
      <table className="rla-table">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Override</th>
            <th scope="col">Ends</th>
            <th scope="col">Set</th>
          </tr>
        </thead>
        <tbody {...roving.rows}>
          {items.map((item) => {
            const { name, key, until, setAt } = item;
            return (
              <tr key={rowId(item)}>
                <th scope="row">
                  <KeyButton of={key} without="all keys" roving={roving.button(rowId(item))} />
                  <span className="rla-quiet rla-name" translate="no">
                    {name}
                  </span>
                </th>
                <td>
                  <OverrideBadge override={{ ...item, until: undefined }} isPlain />
                </td>
                <td>{until === undefined ? "when it is cleared" : formats.time(until)}</td>
                <td className="rla-quiet">{formats.time(setAt)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A key can have several overrides of a limit, of one kind each. */
function rowId(override: AdminOverride): string {
  const { name, key = "" } = override;
  return JSON.stringify([name, key, kindOf(override)]);
}
