/** A list of terms, each with a text. */
"use client";
import type { ReactElement } from "react";
import type { Fact } from "./limit-facts.js";

export function Facts({ facts }: { facts: readonly Fact[] }): ReactElement {
  return (
    <dl>
      {facts.map(([term, text]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
