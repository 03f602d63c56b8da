/** Who has changed this key: the latest changes of operators. */
"use client";
import { type ReactElement, useId } from "react";
import type { NamedChange } from "./admin-client.js";
import { useAdmin } from "./admin-context.js";
import type { KeyInput } from "./admin-types.js";
import { ChangesList } from "./changes-list.js";
import { usePollOfChanges } from "./use-poll-of-changes.js";

/** The changes that are shown. */
const COUNT = 20;

export function KeyChanges({
  input: { key, stored },
  onChanged,
}: {
  input: KeyInput;
  onChanged: (changed: readonly NamedChange[]) => void;
}): ReactElement | null {
  const { client } = useAdmin();
  const id = useId();
  const of = { key: key!, ...(stored && { stored }) };
  const { data } = usePollOfChanges(JSON.stringify(of), (signal) =>
    client.changes({ ...of, count: COUNT }, signal),
  );
  if (!data || data.items.length === 0) return null;
  return (
    <section className="rla-card" aria-labelledby={id}>
      <h3 id={id}>Changes of this key</h3>
      <ChangesList items={data.items} isOfKey onChanged={(change) => onChanged([change])} />
    </section>
  );
}
