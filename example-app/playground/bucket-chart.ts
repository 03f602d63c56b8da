/**
 * Draws a bucket on a canvas with uPlot: the predicted line, the server's points on it, and below
 * them a strip with the denials.
 */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { BucketHistory, Mark } from "./bucket-history.js";
import type { Span } from "./closed-spans.js";
import { drawDenials, STRIP_HEIGHT } from "./denial-strip.js";

const FONT = "12px system-ui, sans-serif";
/** The tokens of the page's colours. */
const COLOURS = {
  line: "--accent",
  fill: "--mine",
  text: "--quiet",
  grid: "--line",
  page: "--card",
  strip: "--raised",
  granted: "--granted",
  denied: "--denied",
  snapshot: "--text",
  closed: "--closed",
};
type Colours = Record<keyof typeof COLOURS, string>;

export function createBucketChart(host: HTMLElement) {
  let colours = readColours(host);
  let marks: Mark[] = [];
  let denials: readonly number[] = [];
  let closed: readonly Span[] = [];
  let now = 0;
  let span = 1;
  let capacity = 1;
  let lowest = 0;
  const colour = (name: keyof Colours) => () => colours[name];
  const sizeOf = () => ({ width: host.clientWidth, height: host.clientHeight });
  const axis = {
    stroke: colour("text"),
    font: FONT,
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { show: false },
  };

  const plot = new uPlot(
    {
      ...sizeOf(),
      padding: [10, 12, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: () => [-span / 1000, 0] },
        // Leaves room for a mark at the capacity. Debts extend the range by whole capacities.
        y: { range: () => [lowest - 0.04 * capacity, 1.04 * capacity] },
      },
      axes: [
        {
          ...axis,
          // The strip is between the plot and the numbers.
          size: 28 + STRIP_HEIGHT,
          gap: 5 + STRIP_HEIGHT,
          space: 64,
          values: (_, ticks) => ticks.map((s) => (s === 0 ? "now" : `${s} s`)),
        },
        { ...axis, size: 52, space: 36 },
      ],
      series: [
        {},
        {
          stroke: colour("line"),
          fill: colour("fill"),
          fillTo: 0,
          width: 2,
          points: { show: false },
        },
      ],
      hooks: { drawClear: [drawClosed], drawAxes: [drawCapacity], draw: [drawMarks, drawStrip] },
    },
    [[], []],
    host,
  );

  /**
   * The spans in which the limit was closed, behind all else: from top to bottom, with an edge on both
   * sides.
   */
  function drawClosed({ ctx, bbox: { left, top, height } }: uPlot): void {
    ctx.save();
    for (const { from, to } of closed) {
      const start = Math.max(left, xOf(from));
      const end = xOf(to);
      ctx.fillStyle = colours.closed;
      ctx.fillRect(start, top, end - start, height);
      ctx.fillStyle = colours.denied;
      for (const x of [start, end]) ctx.fillRect(x, top, uPlot.pxRatio, height);
    }
    ctx.restore();
  }

  /** A dashed line at the capacity, and a line at 0 where there are debts. */
  function drawCapacity({ ctx, bbox, valToPos }: uPlot): void {
    ctx.save();
    ctx.strokeStyle = colours.text;
    ctx.lineWidth = uPlot.pxRatio;
    for (const value of lowest < 0 ? [capacity, 0] : [capacity]) {
      const y = Math.round(valToPos(value, "y", true)) + 0.5;
      ctx.setLineDash(value === 0 ? [] : [4 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }

  const xOf = (at: number) => plot.valToPos(Math.min(0, at - now) / 1000, "x", true);

  /** Granted: a disc. Snapshot: a ring. The plot can be read without its colours. */
  function drawMarks({ ctx, valToPos }: uPlot): void {
    const size = 3.5 * uPlot.pxRatio;
    ctx.save();
    ctx.lineWidth = 1.75 * uPlot.pxRatio;
    for (const { at, value, kind } of marks) {
      ctx.strokeStyle = ctx.fillStyle = colours[kind];
      ctx.beginPath();
      ctx.arc(xOf(at), valToPos(value, "y", true), size, 0, 2 * Math.PI);
      if (kind === "snapshot") ctx.fillStyle = colours.page;
      ctx.fill();
      if (kind === "snapshot") ctx.stroke();
    }
    ctx.restore();
  }

  function drawStrip({ ctx, bbox }: uPlot): void {
    drawDenials(ctx, bbox, denials.map(xOf), { ...colours, font: FONT, scale: uPlot.pxRatio });
  }

  return {
    /** @returns whether anything on the plot moves while time goes on. */
    draw(history: BucketHistory, at: number): boolean {
      now = at;
      span = history.spanAt(now);
      const { at: instants, values } = history.line(now);
      const isShown = (instant: number) => instant > now - span;
      marks = history.marks(now).filter((mark) => isShown(mark.at));
      denials = history.denials(now).filter(isShown);
      closed = history.closed(now).filter(({ to }) => isShown(to));
      const { rate = 1, capacity: held = rate } = history.config ?? {};
      capacity = held;
      const least = Math.min(0, ...values, ...marks.map(({ value }) => value));
      lowest = Math.floor(least / capacity) * capacity;
      plot.setData([instants.map((instant) => (instant - now) / 1000), values]);
      const isLevel = values.every((value) => value === values[0]);
      return marks.length > 0 || denials.length > 0 || !isLevel;
    },
    resize: () => plot.setSize(sizeOf()),
    recolour() {
      colours = readColours(host);
      plot.redraw();
    },
    destroy: () => plot.destroy(),
  };
}

/** A canvas knows no `var()` and no `light-dark()`, so read the computed colours. */
function readColours(host: HTMLElement): Colours {
  const probe = document.createElement("span");
  host.append(probe);
  const entries = Object.entries(COLOURS).map(([name, token]) => {
    probe.style.color = `var(${token})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Colours;
}
