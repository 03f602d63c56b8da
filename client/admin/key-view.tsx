/** One key under all limits: what it holds, why, and what can be done about it. */
"use client";
import { type ReactElement, useEffect, useId, useRef, useState } from "react";
import { messageOf, type NamedChange, troubleOf } from "./admin-client.js";
import { useAdmin } from "./admin-context.js";
import type { AdminKey, KeyInput, AdminKeyLimit } from "./admin-types.js";
import { KeyCard } from "./key-card.js";
import { Loading, Nothing } from "./notes.js";
import { usePoll } from "./use-poll.js";

export function KeyView({
  input,
  first,
  onBack,
}: {
  input: KeyInput;
  /** The limit from which the visitor opened the key. Its card stands first. */
  first: string;
  onBack: () => void;
}): ReactElement {
  const { client, interval, limits, changes } = useAdmin();
  const question = JSON.stringify(input);
  const { data, error, refresh, patch } = usePoll(
    question,
    (signal) => client.key(input, signal),
    interval,
  );
  const id = useId();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  const used = useUsed(data);

  const named = data ? data.key : input.key;
  const isHash = limits.hashed && data?.key !== undefined;
  const byName = new Map(limits.limits.map((limit) => [limit.name, limit]));
  const shown = data?.limits.filter(({ name }) => byName.has(name)) ?? [];
  const order = [...shown].sort((a, b) => Number(b.name === first) - Number(a.name === first));
  const cardOf = (key: AdminKeyLimit) => (
    <KeyCard
      key={key.name}
      limit={byName.get(key.name)!}
      of={key}
      target={input}
      onChanged={(changed) => {
        for (const change of changed) {
          patch((before) => changedKey(before, change));
          changes.tell(change.name, change);
        }
        refresh();
      }}
    />
  );

  return (
    <div className="rla-one">
      <header className="rla-head">
        <button type="button" className="rla-button rla-back" onClick={onBack}>
          {`Back to ${first}`}
        </button>
        <h2 ref={title} id={id} tabIndex={-1}>
          {named === undefined ? (
            <span>Shared bucket</span>
          ) : (
            <span translate="no">{isHash && !input.stored ? input.key : named}</span>
          )}
        </h2>
        {named === undefined && (
          <p className="rla-quiet">
            The bucket of calls without a key. A ban, an exemption and a raise here count for all
            keys.
          </p>
        )}
        {isHash && (
          <p className="rla-quiet rla-hash">
            <span>stored as </span>
            <code translate="no">{data.key}</code>
          </p>
        )}
      </header>
      {!data && error === undefined && <Loading>Asking about this key…</Loading>}
      {!data && error !== undefined && (
        <div className="rla-trouble" role="alert">
          <p>{whyNot(error)}</p>
        </div>
      )}
      {data && used && (
        <>
          {order.some(({ name }) => used.has(name)) ? (
            <div className="rla-cards">
              {order.filter(({ name }) => used.has(name)).map(cardOf)}
            </div>
          ) : (
            <Nothing>This key has used none of the limits lately.</Nothing>
          )}
          {order.some(({ name }) => !used.has(name)) && (
            <details className="rla-details" open={used.size === 0}>
              <summary>Limits that this key has not used lately</summary>
              <div className="rla-cards">
                {order.filter(({ name }) => !used.has(name)).map(cardOf)}
              </div>
            </details>
          )}
        </>
      )}
    </div>
  );
}

/**
 * The limits that the key had used when it was first shown. The set does not change after that: a card
 * that moved would take the focus with it, and move away from under the pointer.
 */
function useUsed(data: AdminKey | undefined): ReadonlySet<string> | undefined {
  const [used, setUsed] = useState<ReadonlySet<string>>();
  if (data && !used) setUsed(new Set(data.limits.filter(isUsed).map(({ name }) => name)));
  return used;
}

function isUsed({ rows, holds, slots, override, usage, item }: AdminKeyLimit): boolean {
  return (
    rows.length > 0 ||
    (holds?.length ?? 0) > 0 ||
    (slots?.holders?.length ?? 0) > 0 ||
    override !== undefined ||
    item.override !== undefined ||
    (usage?.some(({ granted, denied }) => granted + denied > 0) ?? false)
  );
}

function changedKey(before: AdminKey, { name, item, override }: NamedChange): AdminKey {
  const limits = before.limits.map((each): AdminKeyLimit => {
    if (each.name !== name) return each;
    const { override: _, ...rest } = each;
    return { ...rest, item, ...(override && { override }) };
  });
  return { ...before, limits };
}

function whyNot(error: unknown): string {
  switch (troubleOf(error)) {
    case "wrong":
      return `The server does not take this key: ${messageOf(error)}`;
    case "refused":
      return "You may not see this key.";
    default:
      return "The server does not answer. This page asks again by itself.";
  }
}
