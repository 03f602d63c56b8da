/** How many calls were granted and denied, with their parts of all calls. Also the legend of the bars. */
"use client";
import type { ReactElement } from "react";
import { useAdmin } from "./admin-context.js";

export interface Sums {
  granted: number;
  denied: number;
  /** The tokens that were taken; left out where only calls are shown. */
  taken?: number;
}

export function Figures({
  sums,
  when,
}: {
  /** `undefined` while they are not known. */
  sums: Sums | undefined;
  /** Such as `the last hour`. */
  when: string;
}): ReactElement {
  const { formats } = useAdmin();
  const { granted = 0, denied = 0, taken } = sums ?? {};
  const all = granted + denied;
  const figure = (kind: string, count: number, part?: number) => (
    <div data-kind={kind}>
      <dt>{kind}</dt>
      <dd>
        <strong>{sums ? formats.number(count) : "–"}</strong>
        {part !== undefined && <span>{all > 0 ? formats.percent(part) : ""}</span>}
      </dd>
    </div>
  );
  return (
    <div className="rla-figures">
      <dl>
        {figure("granted", granted, granted / all)}
        {figure("denied", denied, denied / all)}
        {taken !== undefined && figure("taken", taken)}
      </dl>
      <p className="rla-quiet">{when}</p>
    </div>
  );
}
