/** Shows what a limit has granted and denied over time: as bars, in figures, and as a table. */
"use client";
import { type ReactElement, useEffect, useId, useMemo, useRef, useState } from "react";
import { DAY, MINUTE } from "../../core/durations.js";
import { type Admin, useAdmin } from "./admin-context.js";
import type { AdminLimit, AdminUsage, UsageSpan } from "./admin-types.js";
import type { Bars } from "./draw-bars.js";
import { Figures } from "./figures.js";
import type { Formats } from "./formats.js";
import { Loading, Nothing } from "./notes.js";
import { usePlaces } from "./place-context.js";
import { RangeRow } from "./range-row.js";
import {
  allSpans,
  askedOf,
  rangeOf,
  rangesOf,
  rangeWords,
  sumOf,
  type UsageRange,
} from "./usage-ranges.js";
import { usePoll } from "./use-poll.js";

/** ms between two looks: spans are at least a minute. */
const INTERVAL = 10_000;
/** ms between two looks at a time that is over. What is counted there changes seldom. */
const PAST_INTERVAL = 60_000;

export function UsageChart({ limit }: { limit: AdminLimit }): ReactElement {
  const { client, formats, interval } = useAdmin();
  const { place } = usePlaces();
  const id = useId();
  const ranges = rangesOf(limit);
  const range = useMemo(() => rangeOf(place.range, rangesOf(limit)), [place.range, limit]);
  const { data, error } = usePoll(
    `${limit.name} ${range.id} ${range.to} ${range.length}`,
    (signal) => askUsage(client, limit, range, signal),
    range.to === undefined ? Math.max(INTERVAL, interval) : PAST_INTERVAL,
  );
  const [pointed, setPointed] = useState<number>();
  const spans = data?.spans;
  const isEmpty = spans?.every(({ granted, denied }) => granted + denied === 0) ?? false;
  const span = pointed === undefined ? undefined : spans?.[pointed];
  return (
    <section className="rla-card rla-usage" aria-labelledby={id}>
      <div className="rla-card-head">
        <h3 id={id}>Over time</h3>
        <RangeRow ranges={ranges} range={range} />
      </div>
      <Figures
        sums={span ?? (spans && sumOf(spans))}
        when={span ? formats.between(span.start, span.end) : rangeWords(range, formats)}
      />
      {/* As high as the bars, whatever stands in it, so that nothing below it moves. */}
      <div className="rla-plot">
        {!data && error === undefined && <Loading>Asking what was granted and denied…</Loading>}
        {!data && error !== undefined && (
          <Nothing>Not known: the server has not answered yet.</Nothing>
        )}
        {isEmpty && <Nothing>{`No calls in ${rangeWords(range, formats)}.`}</Nothing>}
        {spans && !isEmpty && <Plot spans={spans} range={range} onPoint={setPointed} />}
      </div>
      <p className="rla-quiet rla-source">
        {data ? sourceText(data.usage, data.from, formats) : ""}
      </p>
      <Table spans={spans ?? NONE} />
    </section>
  );
}

const NONE: readonly UsageSpan[] = [];

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
    bars?.draw(spans, (at) => formats.tick(at, range.length > BY_DAY));
  }, [bars, spans, formats, range]);

  return hasFailed ? (
    <Nothing>The chart needs the package uplot. The table below has the numbers.</Nothing>
  ) : (
    <div ref={host} className="rla-bars" aria-hidden="true" />
  );
}

/** The texts below the bars of a longer range are days, ms. */
const BY_DAY = 2 * DAY;

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

function sourceText({ source, since }: AdminUsage, from: number, { time }: Formats): string {
  const start = since > from + MINUTE ? `, since ${time(since)}` : "";
  return source === "usage" ? `From usage, all processes${start}` : `This process alone${start}`;
}
