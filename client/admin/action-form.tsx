/** The question before an action: what it does, for how long, and two buttons. Escape cancels. */
"use client";
import { type ReactElement, useEffect, useId, useRef } from "react";
import { DAY, HOUR } from "../../core/durations.js";
import { isTimed, type Terms } from "./action-terms.js";
import { useAdmin } from "./admin-context.js";
import type { AdminLimit, AdminVerb } from "./admin-types.js";

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

const LASTS: readonly { value: number | undefined; label: string }[] = [
  { value: HOUR, label: "an hour" },
  { value: DAY, label: "a day" },
  { value: 7 * DAY, label: "a week" },
  { value: undefined, label: "until it is cleared" },
];

interface Props {
  action: AdminVerb;
  isAll: boolean;
  limit: AdminLimit;
  terms: Terms;
  onTerms: (terms: Terms) => void;
  isSending: boolean;
  problem: string | undefined;
  onSend: () => void;
  onCancel: () => void;
}

export function ActionForm(props: Props): ReactElement {
  const { action, isAll, isSending, problem, onSend, onCancel } = props;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("input, select, button")?.focus(), []);
  const { verb, one, all } = WORDS[action];
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
      <Choices {...props} />
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

/** The person's choices before the action: how much, and for how long. */
function Choices({ action, limit, terms, onTerms }: Props) {
  const { formats, limits } = useAdmin();
  const lasts = LASTS.filter(({ value }) => action !== "ban" || value !== undefined);
  const change = (part: Partial<Terms>) => onTerms({ ...terms, ...part });
  return (
    <div className="rla-line">
      {action === "raise" && (
        <label>
          <span>Times</span>
          <input
            type="number"
            min="1.1"
            max="1000"
            step="any"
            required
            value={Number.isNaN(terms.times) ? "" : terms.times}
            onChange={({ target }) => change({ times: target.valueAsNumber })}
          />
        </label>
      )}
      {action === "plan" && (
        <label>
          <span>Plan</span>
          <select value={terms.plan} onChange={({ target }) => change({ plan: target.value })}>
            {limit.plans!.map(({ plan, terms: has }) => (
              <option key={plan} value={plan}>
                {`${plan}: ${formats.config(has, limit.kind)}`}
              </option>
            ))}
          </select>
        </label>
      )}
      {isTimed(action) && (
        <label>
          <span>For</span>
          <select
            value={lasts.findIndex(({ value }) => value === terms.lasts)}
            onChange={({ target }) => change({ lasts: lasts[Number(target.value)]!.value })}
          >
            {lasts.map(({ label }, index) => (
              <option key={label} value={index}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
      {action === "plan" && limits.limits.filter(isPlanned).length > 1 && (
        <label>
          <input
            type="checkbox"
            checked={terms.isEverywhere ?? false}
            onChange={({ target }) => change({ isEverywhere: target.checked })}
          />
          <span>on all limits with plans</span>
        </label>
      )}
    </div>
  );
}

/** Whether a key can be given a plan of this limit. */
function isPlanned({ plans, overrides }: AdminLimit): boolean {
  return plans !== undefined && overrides;
}
