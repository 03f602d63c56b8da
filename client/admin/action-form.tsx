/** The question before an action: what it does, for how long, and two buttons. Escape cancels. */
"use client";
import { type ReactElement, useEffect, useId, useRef } from "react";
import { ActionChoices, type ActionChoicesProps } from "./action-choices.js";
import { replacedBy } from "./action-terms.js";
import { useAdmin } from "./admin-context.js";
import type { AdminVerb } from "./admin-types.js";
import { overrideText } from "./pieces.js";

const WORDS: Record<AdminVerb, { verb: string; one: string; all: string }> = {
  ban: {
    verb: "Ban",
    one: "Deny every call of this key?",
    all: "Deny every call of this limit, of all keys?",
  },
  exempt: {
    verb: "Exempt",
    one: "Let every call of this key pass, and count none?",
    all: "Let every call of this limit pass, of all keys?",
  },
  raise: {
    verb: "Raise",
    one: "Give this key more than the limit says?",
    all: "Give all keys more than the limit says?",
  },
  give: {
    verb: "Give",
    one: "Give this key so many more, at the same rate?",
    all: "Give every key so many more, at the same rate?",
  },
  plan: {
    verb: "Change",
    one: "Give this key what a plan has?",
    all: "Give all keys what a plan has?",
  },
  clear: {
    verb: "Clear",
    one: "Give this key what the limit says again?",
    all: "Give all keys what the limit says again?",
  },
  reset: {
    verb: "Reset",
    one: "Fill the bucket of this key? What was used is forgotten.",
    all: "Fill the shared bucket? What was used is forgotten.",
  },
};

interface Props extends ActionChoicesProps {
  isAll: boolean;
  isSending: boolean;
  problem: string | undefined;
  onSend: () => void;
  onCancel: () => void;
}

export function ActionForm(props: Props): ReactElement {
  const { action, isAll, overrides, isSending, problem, onSend, onCancel } = props;
  const { formats } = useAdmin();
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("input, select, button")?.focus(), []);
  const { verb, one, all } = WORDS[action];
  const replaced = replacedBy(action, overrides);
  const others = overrides.filter((each) => each !== replaced);
  const isOver = action === "ban" || action === "exempt";
  return (
    <form
      ref={form}
      className="rla-form"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSending) onSend();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
      }}
    >
      <p id={id}>{isAll ? all : one}</p>
      {replaced && (
        <p className="rla-quiet">{`In place of: ${overrideText(replaced, formats)}.`}</p>
      )}
      {isOver && others.length > 0 && (
        <p className="rla-quiet">
          {`Stays beneath it: ${others.map((each) => overrideText(each, formats)).join(", ")}.`}
        </p>
      )}
      <ActionChoices {...props} />
      <div className="rla-line rla-buttons">
        <button
          type="submit"
          className="rla-button rla-primary"
          data-danger={action === "ban"}
          aria-disabled={isSending}
        >
          {verb}
        </button>
        <button type="button" className="rla-button" onClick={onCancel}>
          Cancel
        </button>
      </div>
      {problem !== undefined && (
        <p role="alert" className="rla-problem">
          {problem}
        </p>
      )}
    </form>
  );
}
