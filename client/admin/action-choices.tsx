/** The person's choices before an action: how much, for how long or until when, and why. */
"use client";
import type { ReactElement } from "react";
import { DAY, HOUR } from "../../core/durations.js";
import { kindOf } from "../../core/override-kinds.js";
import { fittingTerms, isTimed, type Terms, tomorrow } from "./action-terms.js";
import { useAdmin } from "./admin-context.js";
import type { AdminLimit, AdminOverride, AdminVerb } from "./admin-types.js";
import { overrideText } from "./pieces.js";

const LASTS: readonly { value: number | undefined; label: string }[] = [
  { value: HOUR, label: "for an hour" },
  { value: DAY, label: "for a day" },
  { value: 7 * DAY, label: "for a week" },
  { value: undefined, label: "until it is cleared" },
];
/** The option behind which an instant can be chosen. */
const UNTIL = "until";

export interface ActionChoicesProps {
  action: AdminVerb;
  limit: AdminLimit;
  /** The overrides of the key, the one that counts first. */
  overrides: readonly AdminOverride[];
  terms: Terms;
  onTerms: (terms: Terms) => void;
}

export function ActionChoices(props: ActionChoicesProps): ReactElement {
  const { action, limit, overrides, terms, onTerms } = props;
  const { formats, limits } = useAdmin();
  const change = (part: Partial<Terms>) => onTerms({ ...terms, ...part });
  return (
    <div className="rla-line rla-fields">
      {action === "raise" && (
        <Amount
          label="Times"
          value={terms.times}
          min="1.1"
          max="1000"
          onChange={(times) => change({ times })}
        />
      )}
      {action === "give" && (
        <Amount
          label="Tokens"
          value={terms.add}
          min="1"
          max="1000000000000"
          onChange={(add) => change({ add })}
        />
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
      {action === "clear" && overrides.length > 1 && (
        <label>
          <span>What</span>
          <select
            value={fittingTerms(terms, overrides).only ?? ""}
            onChange={({ target }) => {
              const found = overrides.find((each) => kindOf(each) === target.value);
              change({ only: found && kindOf(found) });
            }}
          >
            <option value="">all of these</option>
            {overrides.map((each) => (
              <option key={kindOf(each)} value={kindOf(each)}>
                {overrideText(each, formats)}
              </option>
            ))}
          </select>
        </label>
      )}
      {isTimed(action) && <Lasting {...props} />}
      {action === "plan" && limits.limits.filter(isPlanned).length > 1 && (
        <label className="rla-check">
          <input
            type="checkbox"
            checked={terms.isEverywhere ?? false}
            onChange={({ target }) => change({ isEverywhere: target.checked })}
          />
          <span>on all limits with plans</span>
        </label>
      )}
      <label className="rla-why-field">
        <span>Why</span>
        <input
          type="text"
          maxLength={200}
          placeholder="for the log, such as a ticket"
          value={terms.why}
          onChange={({ target }) => change({ why: target.value })}
        />
      </label>
    </div>
  );
}

function Lasting({ action, terms, onTerms }: ActionChoicesProps) {
  const lasts = LASTS.filter(({ value }) => action !== "ban" || value !== undefined);
  const isUntil = terms.until !== undefined;
  return (
    <>
      <label>
        <span>How long</span>
        <select
          value={isUntil ? UNTIL : lasts.findIndex(({ value }) => value === terms.lasts)}
          onChange={({ target: { value } }) => {
            const { until: _, ...others } = terms;
            if (value === UNTIL) onTerms({ ...others, until: tomorrow() });
            else onTerms({ ...others, lasts: lasts[Number(value)]!.value });
          }}
        >
          {lasts.map(({ label }, index) => (
            <option key={label} value={index}>
              {label}
            </option>
          ))}
          <option value={UNTIL}>until a time…</option>
        </select>
      </label>
      {isUntil && (
        <label>
          <span>Until</span>
          <input
            type="datetime-local"
            required
            value={terms.until}
            onChange={({ target }) => onTerms({ ...terms, until: target.value })}
          />
        </label>
      )}
    </>
  );
}

function Amount({
  label,
  value,
  onChange,
  ...bounds
}: {
  label: string;
  value: number;
  min: string;
  max: string;
  onChange: (value: number) => void;
}) {
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        step="any"
        required
        {...bounds}
        value={Number.isNaN(value) ? "" : value}
        onChange={({ target }) => onChange(target.valueAsNumber)}
      />
    </label>
  );
}

/** Whether a key can be given a plan of this limit. */
function isPlanned({ plans, overrides }: AdminLimit): boolean {
  return plans !== undefined && overrides;
}
