/** The actions of one limit of one key: a button each, and before it happens, a question in its place. */
"use client";
import { type ReactElement, useId, useLayoutEffect, useRef, useState } from "react";
import { messageOf, troubleOf } from "./admin-client.js";
import { useAdmin } from "./admin-context.js";
import { ActionForm } from "./action-form.js";
import { FIRST_TERMS, isTimed } from "./action-terms.js";
import type { AdminVerb, AdminChange, AdminLimit, AdminOverride, KeyInput } from "./admin-types.js";
import { overrideText } from "./pieces.js";

const ACTIONS: readonly { action: AdminVerb; label: string }[] = [
  { action: "ban", label: "Ban" },
  { action: "exempt", label: "Exempt" },
  { action: "raise", label: "Raise" },
  { action: "clear", label: "Clear the override" },
  { action: "reset", label: "Reset" },
];

export function KeyActions({
  limit,
  target,
  override,
  onChanged,
  onGone,
}: {
  limit: AdminLimit;
  target: KeyInput;
  override: AdminOverride | undefined;
  onChanged: (changed: AdminChange) => void;
  /** The button that had the focus is not there any more. */
  onGone: () => void;
}): ReactElement | null {
  const { client, formats, limits } = useAdmin();
  const [asked, setAsked] = useState<AdminVerb>();
  const [terms, setTerms] = useState(FIRST_TERMS);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState<string>();
  const group = useRef<HTMLDivElement>(null);
  const last = useRef<AdminVerb>(undefined);
  const id = useId();

  const offered = ACTIONS.filter(
    ({ action }) =>
      limits.actions.includes(action) &&
      (action === "reset" || limit.overrides) &&
      (action !== "clear" || override !== undefined || asked === "clear"),
  );

  // The question is gone, and so would be the focus.
  useLayoutEffect(() => {
    if (asked !== undefined || last.current === undefined) return;
    const button = group.current?.querySelector<HTMLElement>(`[data-action="${last.current}"]`);
    last.current = undefined;
    if (button) button.focus();
    else onGone();
  });

  function close(): void {
    last.current = asked;
    setAsked(undefined);
    setProblem(undefined);
  }

  async function send(action: AdminVerb): Promise<void> {
    const { lasts, times } = terms[action];
    setSending(true);
    setProblem(undefined);
    try {
      const changed = await client.change(action, {
        name: limit.name,
        ...(target.key === undefined ? { all: true } : target),
        ...(isTimed(action) && lasts !== undefined && { for: lasts }),
        ...(action === "raise" && { times }),
      });
      onChanged(changed);
      const { override: set } = changed;
      setDone(set && isTimed(action) ? `Done: ${overrideText(set, formats)}.` : "Done.");
      close();
    } catch (error) {
      setProblem(problemText(error));
    }
    setSending(false);
  }

  if (offered.length === 0) return null;
  return (
    <div ref={group} role="group" aria-label={`Actions on ${limit.name}`} className="rla-actions">
      {asked === undefined ? (
        <div className="rla-line rla-buttons">
          {offered.map(({ action, label }) => (
            <button
              key={action}
              type="button"
              className="rla-button"
              data-action={action}
              onClick={() => {
                setDone(undefined);
                setAsked(action);
              }}
            >
              {label}
            </button>
          ))}
        </div>
      ) : (
        <ActionForm
          id={id}
          action={asked}
          isAll={target.key === undefined}
          terms={terms[asked]}
          onTerms={(next) => setTerms((before) => ({ ...before, [asked]: next }))}
          isSending={isSending}
          problem={problem}
          onSend={() => void send(asked)}
          onCancel={close}
        />
      )}
      <p role="status" className="rla-done">
        {done ?? ""}
      </p>
    </div>
  );
}

function problemText(error: unknown): string {
  switch (troubleOf(error)) {
    case "refused":
      return "You may not do this. Nothing was changed.";
    case "missing":
    case "wrong":
      return `The server has refused it: ${messageOf(error)}`;
    default:
      return "The server did not answer, so it may have been done. Look at what is shown, and try again.";
  }
}
