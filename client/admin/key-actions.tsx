/** The actions of one limit of one key: a button for each. A click shows a question in their place. */
"use client";
import { type ReactElement, useLayoutEffect, useRef, useState } from "react";
import { messageOf, type NamedChange, troubleOf } from "./admin-client.js";
import { useAdmin } from "./admin-context.js";
import { ActionForm } from "./action-form.js";
import { fittingTerms, firstTerms, inputOf, replacedBy, type Terms } from "./action-terms.js";
import type { AdminVerb, AdminLimit, AdminOverride, KeyInput } from "./admin-types.js";
import { overrideText } from "./pieces.js";

const ACTIONS: readonly { action: AdminVerb; label: string }[] = [
  { action: "ban", label: "Ban" },
  { action: "exempt", label: "Exempt" },
  { action: "raise", label: "Raise" },
  { action: "give", label: "Give more" },
  { action: "plan", label: "Change plan" },
  { action: "clear", label: "Clear the override" },
  { action: "reset", label: "Reset" },
];

interface Props {
  limit: AdminLimit;
  target: KeyInput;
  /** The overrides of the key, the one that counts first. */
  overrides: readonly AdminOverride[];
  /** The plan that counts now; `undefined` where it is not known. */
  plan: string | undefined;
  onChanged: (changed: readonly NamedChange[]) => void;
  /** Called when the button that had the focus does not exist any more. */
  onGone: () => void;
}

export function KeyActions(props: Props): ReactElement | null {
  const { limit, target, overrides, plan } = props;
  const { limits } = useAdmin();
  const [terms, setTerms] = useState(firstTerms);
  const [group, asked, ask, close, send, isSending, problem, done, undo] = useQuestion(props);
  const offered = ACTIONS.filter(
    ({ action }) =>
      limits.actions.includes(action) &&
      (action === "reset" || limit.overrides) &&
      (action !== "plan" || limit.plans !== undefined) &&
      (action !== "give" || limit.kind !== "credits") &&
      (action !== "clear" || overrides.length > 0 || asked === "clear"),
  );

  function onAsk(action: AdminVerb): void {
    ask(action);
    const other = limit.plans?.find((each) => each.plan !== plan)?.plan;
    if (action !== "plan" || other === undefined) return;
    setTerms((before) => ({ ...before, plan: { plan: other, ...before.plan } }));
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
              onClick={() => onAsk(action)}
            >
              {label}
            </button>
          ))}
        </div>
      ) : (
        <ActionForm
          action={asked}
          isAll={target.key === undefined}
          limit={limit}
          overrides={overrides}
          terms={terms[asked]}
          onTerms={(next) => setTerms((before) => ({ ...before, [asked]: next }))}
          isSending={isSending}
          problem={problem}
          onSend={() => void send(asked, fittingTerms(terms[asked], overrides))}
          onCancel={close}
        />
      )}
      <div className="rla-line">
        <p role="status" className="rla-done">
          {done ?? ""}
        </p>
        {undo && (
          <button type="button" className="rla-link" onClick={undo}>
            Undo
          </button>
        )}
      </div>
    </div>
  );
}

/** The open question, and the outcome of the last question in words: `done`, or a `problem`. */
function useQuestion({ limit, target, onChanged, onGone }: Props) {
  const { client, formats } = useAdmin();
  const [asked, setAsked] = useState<AdminVerb>();
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState<string>();
  /** The id of the last change. */
  const [undoable, setUndoable] = useState<string>();
  const group = useRef<HTMLDivElement>(null);
  const last = useRef<AdminVerb>(undefined);
  /** Counts the questions, because one can be closed, and another one opened, before the server answers. */
  const question = useRef(0);

  // The question is gone. Give the focus to the button that opened it, or the focus is lost.
  useLayoutEffect(() => {
    if (asked !== undefined || last.current === undefined) return;
    const button = group.current?.querySelector<HTMLElement>(`[data-action="${last.current}"]`);
    last.current = undefined;
    if (button) button.focus();
    else onGone();
  });

  function close(): void {
    question.current++;
    last.current = asked;
    setAsked(undefined);
    setProblem(undefined);
  }

  function ask(action: AdminVerb): void {
    setDone(undefined);
    setUndoable(undefined);
    setAsked(action);
  }

  async function send(action: AdminVerb, terms: Terms): Promise<void> {
    const own = question.current;
    setSending(true);
    setProblem(undefined);
    try {
      const changed = await client.change(action, {
        ...(!terms.isEverywhere && { name: limit.name }),
        ...(target.key === undefined ? { all: true } : target),
        ...inputOf(action, terms),
      });
      onChanged(changed);
      const { overrides: now = [], change } = changed[0]!;
      const set = replacedBy(action, now);
      const where = changed.length > 1 ? ` on ${changed.length} limits` : "";
      setDone(set ? `Done${where}: ${overrideText(set, formats)}.` : "Done.");
      setUndoable(changed.length === 1 ? change : undefined);
      if (question.current === own) close();
    } catch (error) {
      const say = question.current === own ? setProblem : setDone;
      say(problemText(error));
    }
    setSending(false);
  }

  async function undo(id: string): Promise<void> {
    setUndoable(undefined);
    try {
      onChanged([await client.undo(id)]);
      setDone("Undone.");
    } catch (error) {
      setDone(problemText(error));
    }
    group.current?.querySelector<HTMLElement>("button")?.focus();
  }

  const onUndo = undoable === undefined ? undefined : () => void undo(undoable);
  return [group, asked, ask, close, send, isSending, problem, done, onUndo] as const;
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
