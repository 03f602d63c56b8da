/** One key under all limits: what it holds, why, and what can be done about it. */
"use client";
import { type ReactElement, useEffect, useId, useRef, useState } from "react";
import { messageOf, type NamedChange, troubleOf } from "./admin-client.js";
import { useAdmin } from "./admin-context.js";
import type { AdminKey, KeyInput, AdminKeyLimit } from "./admin-types.js";
import { KeyCard } from "./key-card.js";
import { KeyChanges } from "./key-changes.js";
import { Loading, Nothing } from "./notes.js";
import { usePoll } from "./use-poll.js";

interface Props {
  input: KeyInput;
  /** The limit from which the visitor opened the key. Its card stands first. */
  first: string | undefined;
  /** What the visitor goes back to. */
  back: string;
  onBack: () => void;
}

export function KeyView(props: Props): ReactElement {
  const { input } = props;
  const { client, interval, changes } = useAdmin();
  const question = JSON.stringify(input);
  // A search for similar keys lists keys of each limit, so only the first question asks for it.
  const isFirst = useRef(true);
  const { data, error, refresh, patch } = usePoll(
    question,
    async (signal) => {
      const answer = await client.key({ ...input, near: isFirst.current }, signal);
      isFirst.current = false;
      return answer;
    },
    interval,
  );
  function onChanged(changed: readonly NamedChange[]): void {
    for (const change of changed) {
      patch((before) => changedKey(before, change));
      changes.tell(change.name, change);
    }
    refresh();
  }
  return (
    <div className="rla-one">
      <Header {...props} data={data} />
      {!data && error === undefined && <Loading>Asking about this key…</Loading>}
      {!data && error !== undefined && (
        <div className="rla-trouble" role="alert">
          <p>{whyNot(error)}</p>
        </div>
      )}
      {data && <Cards {...props} data={data} onChanged={onChanged} />}
      {data && input.key !== undefined && <KeyChanges input={input} onChanged={onChanged} />}
    </div>
  );
}

function Header({ input, back, onBack, data }: Props & { data: AdminKey | undefined }) {
  const { limits } = useAdmin();
  const id = useId();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  const named = data ? data.key : input.key;
  const isHash = limits.hashed && data?.key !== undefined;
  return (
    <header className="rla-head">
      <button type="button" className="rla-back" onClick={onBack}>
        {`Back to ${back}`}
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
  );
}

/** The limits that the key has used, and below them, folded, the limits that it has not. */
function Cards({
  input,
  first,
  data,
  onChanged,
}: Props & { data: AdminKey; onChanged: (changed: readonly NamedChange[]) => void }) {
  const { limits } = useAdmin().limits;
  const [near] = useState(data.near ?? NONE);
  // This set stays as it is when the key is first shown: a card that moved would take the focus with it,
  // and move away from under the pointer.
  const [used] = useState(() => new Set(data.limits.filter(isUsed).map(({ name }) => name)));
  const byName = new Map(limits.map((limit) => [limit.name, limit]));
  const cards = data.limits
    .filter(({ name }) => byName.has(name))
    .sort((a, b) => Number(b.name === first) - Number(a.name === first));
  const cardOf = (of: AdminKeyLimit) => (
    <KeyCard
      key={of.name}
      limit={byName.get(of.name)!}
      of={of}
      target={input}
      onChanged={onChanged}
    />
  );
  const shown = cards.filter(({ name }) => used.has(name));
  const folded = cards.filter(({ name }) => !used.has(name));
  return (
    <>
      {shown.length > 0 ? (
        <div className="rla-cards">{shown.map(cardOf)}</div>
      ) : (
        <NoRow near={near} />
      )}
      {folded.length > 0 && (
        <details className="rla-details">
          <summary>Limits that this key has not used lately</summary>
          <div className="rla-cards">{folded.map(cardOf)}</div>
        </details>
      )}
    </>
  );
}

const NONE: readonly string[] = [];

/** A key without rows is not shown as a full bucket, because somebody may have mistyped it. */
function NoRow({ near }: { near: readonly string[] }) {
  const { openKey } = useAdmin();
  return (
    <>
      <Nothing>
        {`No limit has a row of this key: it was never used, or is full again.${near.length > 0 ? " Keys like it:" : ""}`}
      </Nothing>
      <p className="rla-line" translate="no">
        {near.map((key) => (
          <button
            key={key}
            type="button"
            className="rla-button"
            onClick={() => openKey({ key, stored: true })}
          >
            {key}
          </button>
        ))}
      </p>
    </>
  );
}

function isUsed({ rows, holds, slots, overrides, usage, item }: AdminKeyLimit): boolean {
  return (
    rows.length > 0 ||
    (holds?.length ?? 0) > 0 ||
    (slots?.holders?.length ?? 0) > 0 ||
    overrides !== undefined ||
    item.override !== undefined ||
    (usage?.some(({ granted, denied }) => granted + denied > 0) ?? false)
  );
}

function changedKey(before: AdminKey, { name, item, overrides }: NamedChange): AdminKey {
  const limits = before.limits.map((each): AdminKeyLimit => {
    if (each.name !== name) return each;
    const { overrides: _, ...rest } = each;
    return { ...rest, item, ...(overrides && { overrides }) };
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
