/** A choice of one out of a few: radio buttons, so that the arrow keys and screen readers work. */
"use client";
import { type ReactElement, useId } from "react";

export interface Choice<TId extends string> {
  id: TId;
  label: string;
}

export function RadioRow<TId extends string>({
  legend,
  choices,
  chosen,
  onChoose,
}: {
  /** For screen readers. */
  legend: string;
  choices: readonly Choice<TId>[];
  chosen: TId;
  onChoose: (id: TId) => void;
}): ReactElement {
  const name = useId();
  return (
    <fieldset className="rla-radios">
      <legend className="rla-hidden">{legend}</legend>
      {choices.map(({ id, label }) => (
        <label key={id}>
          <input type="radio" name={name} checked={id === chosen} onChange={() => onChoose(id)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
