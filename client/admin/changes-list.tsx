/** What operators have changed: who, what, why and when, with a button that undoes it. */
"use client";
import { type ReactElement, useRef, useState } from "react";
import { messageOf, type NamedChange, troubleOf } from "./admin-client.js";
import { useAdmin } from "./admin-context.js";
import type { AdminChangeEntry } from "./admin-types.js";
import { changeText } from "./change-text.js";
import { KeyButton } from "./key-button.js";

interface Props {
  items: readonly AdminChangeEntry[];
  /** Whether all of them are of one key, which is then not named again. */
  isOfKey?: boolean;
  onChanged: (change: NamedChange) => void;
}

export function ChangesList({ items, isOfKey = false, onChanged }: Props): ReactElement {
  const [asked, setAsked] = useState<string>();
  const [said, setSaid] = useState("");
  const { client } = useAdmin();
  const status = useRef<HTMLParagraphElement>(null);

  async function undo(entry: AdminChangeEntry): Promise<void> {
    setAsked(undefined);
    // The button is gone.
    status.current?.focus();
    try {
      onChanged(await client.undo(entry.id));
      setSaid("Undone.");
    } catch (error) {
      setSaid(
        troubleOf(error) === "offline"
          ? "The server did not answer, so it may have been undone. Look at what is shown."
          : `Not undone: ${messageOf(error)}`,
      );
    }
  }

  return (
    <>
      <p ref={status} role="status" tabIndex={-1} className="rla-done">
        {said}
      </p>
      <ol className="rla-changes">
        {items.map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            isOfKey={isOfKey}
            isAsked={asked === entry.id}
            onAsk={(isAsked) => setAsked(isAsked ? entry.id : undefined)}
            onUndo={() => void undo(entry)}
          />
        ))}
      </ol>
    </>
  );
}

function Entry({
  entry,
  isOfKey,
  isAsked,
  onAsk,
  onUndo,
}: {
  entry: AdminChangeEntry;
  isOfKey: boolean;
  isAsked: boolean;
  onAsk: (isAsked: boolean) => void;
  onUndo: () => void;
}) {
  const { formats } = useAdmin();
  const { at, name, key, by, why, canUndo, undoneBy } = entry;
  return (
    <li className="rla-change" data-undone={undoneBy !== undefined}>
      <time className="rla-quiet" dateTime={new Date(at).toISOString()}>
        {formats.exactTime(at)}
      </time>
      <div className="rla-change-body">
        <p>
          <strong>{changeText(entry, formats)}</strong>
          {undoneBy !== undefined && <span className="rla-quiet"> (undone)</span>}
        </p>
        <p className="rla-quiet">
          {!isOfKey && <KeyButton of={key} without="All keys" />}
          <span>{isOfKey ? "of " : " of "}</span>
          <span translate="no">{name}</span>
          {by !== undefined && (
            <>
              <span>, by </span>
              <span translate="no">{by}</span>
            </>
          )}
        </p>
        {why !== undefined && <p className="rla-why">{why}</p>}
      </div>
      {canUndo && (
        <div className="rla-line rla-buttons">
          <button
            type="button"
            className={isAsked ? "rla-button rla-primary" : "rla-button"}
            aria-label={isAsked ? "Yes, undo it" : `Undo: ${changeText(entry, formats)}`}
            onClick={() => (isAsked ? onUndo() : onAsk(true))}
          >
            {isAsked ? "Yes, undo" : "Undo"}
          </button>
          {isAsked && (
            <button type="button" className="rla-button" onClick={() => onAsk(false)}>
              Cancel
            </button>
          )}
        </div>
      )}
    </li>
  );
}
