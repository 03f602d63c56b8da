/** The choice of a range: the last hour, day or week, or two dates, and steps to earlier and later ones. */
"use client";
import { type ReactElement, useState } from "react";
import { MINUTE } from "../../core/durations.js";
import { usePlaces } from "./place-context.js";
import { RadioRow } from "./radio-row.js";
import { datesOf, endsOf, movedRange, rangeText, type UsageRange } from "./usage-ranges.js";

interface Props {
  /** The ranges that end now. The first one is the default. */
  ranges: readonly UsageRange[];
  range: UsageRange;
}

export function RangeRow({ ranges, range }: Props): ReactElement {
  const { go } = usePlaces();
  const choose = (next: UsageRange) => go({ range: rangeText(next, ranges) }, false);
  const step = (by: -1 | 1) => {
    const next = movedRange(range, by, Date.now());
    if (next) choose(next);
  };
  return (
    <div className="rla-range">
      <div className="rla-line">
        <RadioRow
          legend="The last"
          choices={[...ranges, datesOf(0, 1)]}
          chosen={range.id}
          onChoose={(wanted) => {
            const { from, to } = endsOf(range, Date.now());
            choose(ranges.find((each) => each.id === wanted) ?? datesOf(from, to));
          }}
        />
        <div className="rla-steps">
          <button type="button" className="rla-step" aria-label="Earlier" onClick={() => step(-1)}>
            <span aria-hidden="true">‹</span>
          </button>
          <button
            type="button"
            className="rla-step"
            aria-label="Later"
            // Not `disabled`: the button would lose the focus when the present is reached.
            aria-disabled={range.to === undefined}
            onClick={() => step(1)}
          >
            <span aria-hidden="true">›</span>
          </button>
        </div>
      </div>
      {range.to !== undefined && (
        <Dates
          from={range.to - range.length}
          to={range.to}
          onChange={(from, to) => choose(datesOf(from, to))}
        />
      )}
    </div>
  );
}

function Dates({
  from,
  to,
  onChange,
}: {
  from: number;
  to: number;
  onChange: (from: number, to: number) => void;
}) {
  return (
    <div className="rla-line rla-dates">
      <Instant label="From" at={from} onChange={(at) => onChange(at, Math.max(to, at + MINUTE))} />
      <Instant label="To" at={to} onChange={(at) => onChange(Math.min(from, at - MINUTE), at)} />
    </div>
  );
}

/** An instant in the reader's time zone. */
function Instant({
  label,
  at,
  onChange,
}: {
  label: string;
  at: number;
  onChange: (at: number) => void;
}) {
  // While a person types a year, it is 2, 20 and 202. The field must keep what was typed.
  const [typed, setTyped] = useState<string>();
  return (
    <label>
      <span>{label}</span>
      <input
        type="datetime-local"
        required
        value={typed ?? localText(at)}
        onBlur={() => setTyped(undefined)}
        onChange={({ target }) => {
          setTyped(target.value);
          const chosen = Date.parse(target.value);
          if (chosen >= FIRST) onChange(chosen);
        }}
      />
    </label>
  );
}

/** Nothing was counted before, and a year that is half typed is before. Epoch ms. */
const FIRST = Date.UTC(2000, 0);

/** Such as `2030-04-03T10:17`, which the field takes as the time of the reader's clock. */
function localText(at: number): string {
  const offset = new Date(at).getTimezoneOffset() * MINUTE;
  return new Date(at - offset).toISOString().slice(0, 16);
}
