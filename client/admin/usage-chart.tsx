/** Shows what a limit has granted and denied over time: as bars, in a sentence, and as a table. */
"use client";
import { type ReactElement, useEffect, useId, useMemo, useRef, useState } from "react";
import { MINUTE } from "../../core/durations.js";
import { type Admin, useAdmin } from "./admin-context.js";
import type { AdminLimit, AdminUsage, UsageSpan } from "./admin-types.js";
import type { Bars } from "./draw-bars.js";
import type { Formats } from "./formats.js";
import { Loading, Nothing } from "./notes.js";
import { RadioRow } from "./radio-row.js";
import { allSpans, askedOf, rangesOf, sumOf, type UsageRange } from "./usage-ranges.js";
import { usePoll } from "./use-poll.js";

/** ms between two looks: spans are at least a minute. */
const INTERVAL = 10_000;

export function UsageChart({ limit }: { limit: AdminLimit }): ReactElement {
  const { client, formats, interval } = useAdmin();
  const id = useId();
  const ranges = rangesOf(limit);
  const [chosen, setChosen] = useState(ranges[0]!.id);
  const range = ranges.find((each) => each.id === chosen) ?? ranges[0]!;
  const { data, error } = usePoll(
    `${limit.name} ${range.id}`,
    (signal) => askUsage(client, limit, range, signal),
    Math.max(INTERVAL, interval),
  );
  const [pointed, setPointed] = useState<number>();
  const spans = data?.spans;
  const isEmpty = spans?.every(({ granted, denied }) => granted + denied === 0) ?? false;
  return (
    <section className="rla-card rla-usage" aria-labelledby={id}>
      <div className="rla-card-head">
        <h3 id={id}>Granted and denied</h3>
        <RadioRow legend="The last" choices={ranges} chosen={range.id} onChoose={setChosen} />
      </div>
      {!data && error === undefined && <Loading>Asking what was granted and denied…</Loading>}
      {!data && error !== undefined && (
        <Nothing>Not known: the server has not answered yet.</Nothing>
      )}
      {data && spans && (
        <>
          <p className="rla-sentence">
            {pointed !== undefined && spans[pointed]
              ? spanText(spans[pointed], formats)
              : sumText(spans, range, formats)}
          </p>
          {!isEmpty && <Plot spans={spans} range={range} onPoint={setPointed} />}
          <div className="rla-foot">
            {!isEmpty && <Legend />}
            <p className="rla-quiet">{sourceText(data.usage, data.from, formats)}</p>
          </div>
          {!isEmpty && <Table spans={spans} />}
        </>
      )}
    </section>
  );
}

async function askUsage(
  client: Admin["client"],
  limit: AdminLimit,
  range: UsageRange,
  signal: AbortSignal,
) {
  const asked = askedOf(limit, range, Date.now());
  const usage = await client.usage({ name: limit.name, ...asked }, signal);
  return { usage, from: asked.from, spans: allSpans(usage.items, asked) };
}

/** The bars. The code that draws them is a chunk of its own. Without that code, there is still the table. */
function Plot({
  spans,
  range,
  onPoint,
}: {
  spans: readonly UsageSpan[];
  range: UsageRange;
  onPoint: (index: number | undefined) => void;
}) {
  const { formats } = useAdmin();
  const host = useRef<HTMLDivElement>(null);
  const [bars, setBars] = useState<Bars>();
  const [hasFailed, setFailed] = useState(false);
  const point = useRef(onPoint);
  useEffect(() => {
    point.current = onPoint;
  });

  useEffect(() => {
    let made: Bars | undefined;
    let isOver = false;
    import("./draw-bars.js")
      .then(({ drawBars }) => drawBars(host.current!, (index) => point.current(index)))
      .then(
        (loaded) => {
          made = loaded;
          if (isOver) loaded.destroy();
          else setBars(loaded);
        },
        () => !isOver && setFailed(true),
      );
    return () => {
      isOver = true;
      made?.destroy();
      setBars(undefined);
    };
  }, []);

  useEffect(() => {
    bars?.draw(spans, (at) => formats.tick(at, range.id === "week"));
  }, [bars, spans, formats, range]);

  return hasFailed ? (
    <Nothing>The chart needs the package uplot. The table below has the numbers.</Nothing>
  ) : (
    <div ref={host} className="rla-plot" aria-hidden="true" />
  );
}

function Legend() {
  return (
    <ul className="rla-legend" aria-hidden="true">
      <li data-kind="granted">
        <span>granted</span>
      </li>
      <li data-kind="denied">
        <span>denied, on top</span>
      </li>
    </ul>
  );
}

function Table({ spans }: { spans: readonly UsageSpan[] }) {
  const { formats } = useAdmin();
  const rows = useMemo(
    () => spans.filter(({ granted, denied }) => granted + denied > 0).reverse(),
    [spans],
  );
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="rla-details" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        <div className="rla-table-frame" tabIndex={0} role="group" aria-label="Granted and denied">
          <table className="rla-table">
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col" className="rla-number">
                  Granted
                </th>
                <th scope="col" className="rla-number">
                  Denied
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ start, granted, denied }) => (
                <tr key={start}>
                  <th scope="row">{formats.time(start)}</th>
                  <td className="rla-number">{formats.number(granted)}</td>
                  <td className="rla-number">{formats.number(denied)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function spanText({ start, end, granted, denied }: UsageSpan, { number, time }: Formats): string {
  return `${time(start)} to ${time(end)}: ${number(granted)} granted, ${number(denied)} denied`;
}

function sumText(spans: readonly UsageSpan[], { last }: UsageRange, { number }: Formats): string {
  const { granted, denied } = sumOf(spans);
  if (granted + denied === 0) return `No calls in the last ${last}.`;
  return `${number(granted)} granted and ${number(denied)} denied in the last ${last}.`;
}

function sourceText({ source, since }: AdminUsage, from: number, { time }: Formats): string {
  const start = since > from + MINUTE ? `, since ${time(since)}` : "";
  return source === "usage" ? `from usage, all processes${start}` : `this process alone${start}`;
}
