/** Draws granted and denied calls as bars on a canvas, with uPlot. Loaded when there is something to draw. */
import type uPlot from "uplot";
import { MINUTE } from "../../core/durations.js";
import type { UsageSpan } from "./admin-types.js";

export interface Bars {
  /** @param tick the text below a bar, of the start of its span. */
  draw(spans: readonly UsageSpan[], tick: (at: number) => string): void;
  destroy(): void;
}

const FONT = "12px system-ui, sans-serif";
/** The variables of admin.css. */
const COLOURS = {
  granted: "--rla-granted",
  denied: "--rla-denied",
  edge: "--rla-denied-edge",
  text: "--rla-quiet",
  line: "--rla-line",
};
type Colours = Record<keyof typeof COLOURS, string>;
/** The media queries that change the colours of the page. */
const SCHEMES = ["(prefers-color-scheme: dark)", "(forced-colors: active)"];
/** Room above the highest bar. */
const HEAD_ROOM = 1.08;

/**
 * @param onPoint the index of the span under the pointer.
 * @throws if the package uplot is not there.
 */
export async function drawBars(
  host: HTMLElement,
  onPoint: (index: number | undefined) => void,
): Promise<Bars> {
  const { default: UPlot } = await import("uplot");
  const shown: Shown = { colours: readColours(host), spans: [], tick: () => "" };
  const sizeOf = () => ({ width: host.clientWidth, height: host.clientHeight });
  const paths = UPlot.paths.bars!({ size: [0.82, 40], radius: 0.12 });
  const plot = new UPlot(
    {
      ...sizeOf(),
      ...optionsOf(shown, paths),
      hooks: {
        setCursor: [
          ({ cursor: { idx, left = -1 } }) => onPoint(left < 0 ? undefined : (idx ?? undefined)),
        ],
      },
    },
    [[], [], []],
    host,
  );

  function recolour(): void {
    shown.colours = readColours(host);
    plot.redraw();
  }
  const onResize = new ResizeObserver(() => {
    // While the page shows a key, the chart is hidden and has no size.
    if (host.clientWidth > 0) plot.setSize(sizeOf());
  });
  onResize.observe(host);
  const schemes = SCHEMES.map((query) => matchMedia(query));
  for (const scheme of schemes) scheme.addEventListener("change", recolour);
  // A page with its own colour switch changes its root element: a class, a style or an attribute.
  const onRoot = new MutationObserver(recolour);
  onRoot.observe(document.documentElement, { attributes: true });

  return {
    draw(spans, tick) {
      shown.spans = spans;
      shown.tick = tick;
      // The application may have changed its colours without a media query.
      shown.colours = readColours(host);
      plot.setData([
        spans.map((_, index) => index),
        // A bar of no height would still have its edge.
        spans.map(({ granted, denied }) => granted + denied || null),
        spans.map(({ granted }) => granted || null),
      ]);
    },
    destroy() {
      onResize.disconnect();
      onRoot.disconnect();
      for (const scheme of schemes) scheme.removeEventListener("change", recolour);
      plot.destroy();
    },
  };
}

/** Steps between two numbers beside the bars: calls are whole. */
const CALL_STEPS = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((e) => step * 10 ** e))
  .sort((a, b) => a - b);

/** The state of the chart. uPlot reads the state each time it draws. */
interface Shown {
  colours: Colours;
  spans: readonly UsageSpan[];
  tick: (at: number) => string;
}

function optionsOf(
  shown: Shown,
  paths: uPlot.Series.PathBuilder,
): Omit<uPlot.Options, "width" | "height"> {
  const colour = (name: keyof Colours) => () => shown.colours[name];
  const axis = { stroke: colour("text"), font: FONT, ticks: { show: false } };
  return {
    // A text is centred below its bar, so the last text needs room beside its bar.
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [-0.5, Math.max(1, shown.spans.length) - 0.5] },
      y: {
        range: () => [
          0,
          HEAD_ROOM * Math.max(1, ...shown.spans.map(({ granted, denied }) => granted + denied)),
        ],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        space: 64,
        splits: ({ width }) => roundTimes(shown.spans, Math.max(2, Math.floor(width / 72))),
        values: (_, ticks) =>
          ticks.map((index) => (shown.spans[index] ? shown.tick(shown.spans[index].start) : "")),
      },
      {
        ...axis,
        grid: { stroke: colour("line"), width: 1 },
        size: 44,
        space: 32,
        incrs: CALL_STEPS,
      },
    ],
    series: [
      {},
      // First all calls, then in front of them the granted calls. The part that stays visible is denied.
      {
        fill: colour("denied"),
        stroke: colour("edge"),
        width: 1,
        paths,
        points: { show: false },
      },
      {
        fill: colour("granted"),
        stroke: colour("granted"),
        width: 1,
        paths,
        points: { show: false },
      },
    ],
  };
}

/** Steps between two texts below the bars, ms. */
const STEPS = [1, 5, 10, 15, 30, 60, 180, 360, 720, 1440].map((minutes) => minutes * MINUTE);

/** The spans that begin at a full hour, or another round time of the reader's clock: at most `most`. */
export function roundTimes(spans: readonly UsageSpan[], most: number): number[] {
  const [first] = spans;
  if (!first) return [];
  const zone = new Date(first.start).getTimezoneOffset() * MINUTE;
  const found = STEPS.map((step) =>
    spans.flatMap(({ start }, index) => ((start - zone) % step === 0 ? [index] : [])),
  );
  const round = found.find(({ length }) => length > 0 && length <= most);
  if (round) return round;
  // Bars of a day begin at midnight in UTC, which is no round time elsewhere.
  const each = Math.ceil(spans.length / most);
  return spans.flatMap((_, index) => (index % each === 0 ? [index] : []));
}

/** A canvas knows no `var()` and no `light-dark()`, so read the computed colours. */
function readColours(host: HTMLElement): Colours {
  const probe = document.createElement("span");
  host.append(probe);
  const entries = Object.entries(COLOURS).map(([name, variable]) => {
    probe.style.color = `var(${variable})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Colours;
}
