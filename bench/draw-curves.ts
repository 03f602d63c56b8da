/** Draws throughput and p99 over the number of waiting callers, as SVG: for wide pages, and for phones. */
import type { Row } from "./measure.js";
import { curves, OWN_POOL, PEER, PG, type Scenario } from "./scenarios.js";

interface Point {
  waiting: number;
  value: number;
}

interface Panel {
  title: string;
  unit: string;
  series: Map<string, Point[]>;
}

/** The class of each line. The style has the colour of each class, for light and dark pages. */
const CLASSES: Record<string, string> = { [PG]: "pg", [OWN_POOL]: "prisma", [PEER]: "peer" };
const STYLE = `
  svg { font: 14px system-ui, sans-serif; fill: #1b1a21; background: #fff; }
  .title { font-weight: 650; }
  .about { fill: #5c5a68; }
  .grid { stroke: #e0dee8; }
  polyline { fill: none; stroke-width: 2.5; }
  .pg { stroke: #4338ca; fill: #4338ca; }
  .prisma { stroke: #0a6190; fill: #0a6190; }
  .peer { stroke: #6b6978; fill: #6b6978; }
  polyline.pg, polyline.prisma, polyline.peer { fill: none; }
  @media (prefers-color-scheme: dark) {
    svg { fill: #eeedf3; background: #1c1b23; }
    .about { fill: #a5a3b3; }
    .grid { stroke: #3a3944; }
    .pg { stroke: #a5a0ff; fill: #a5a0ff; }
    .prisma { stroke: #7cc7f5; fill: #7cc7f5; }
    .peer { stroke: #a5a3b3; fill: #a5a3b3; }
  }
`;
const short = new Intl.NumberFormat("en", { notation: "compact" });
const WIDTH = 300;
const HEIGHT = 190;
const TOP = 40;
const GAP = 40;
/** How far to the left of its chart a title begins, px. The longest title is as wide as a phone. */
const TITLE = 36;

interface Layout {
  columns: number;
  /**
   * From the left of a column to the left of its chart, px. The longest number beside an axis needs 39.
   */
  left: number;
  /** From the right of a chart to the right of its column, px. */
  right: number;
  /** Between two names of the legend, to the right and down. */
  legend: readonly [x: number, y: number];
}
const WIDE: Layout = { columns: 2, left: 76, right: 28, legend: [220, 0] };
/** 360 px wide, as other pictures for phones. */
const NARROW: Layout = { columns: 1, left: 43, right: 17, legend: [0, 22] };

export interface Curves {
  wide: string;
  narrow: string;
}

export function drawCurves(measured: readonly { scenario: Scenario; rows: Row[] }[]): Curves {
  const panels = curves.flatMap(({ processes, keys }) => {
    const members = measured.filter(
      ({ scenario: { database, roundTrip, tokens, ...rest } }) =>
        rest.processes === processes &&
        rest.keys === keys &&
        database === "postgresql" &&
        // Scenarios with another peer have callers of other kinds, or several configs.
        rest.peer === PEER &&
        roundTrip === 0 &&
        tokens > 1000,
    );
    const panel = (unit: string, pick: (row: Row) => number): Panel => {
      const series = new Map<string, Point[]>();
      for (const { scenario, rows } of members) {
        for (const row of rows) {
          if (!(row.contender in CLASSES)) continue;
          const points = series.get(row.contender) ?? [];
          points.push({ waiting: scenario.waiting, value: pick(row) });
          series.set(row.contender, points);
        }
      }
      const noun = keys === 1 ? "key" : "keys";
      const title = `${processes} ${processes === 1 ? "process" : "processes"}, ${keys.toLocaleString("en")} ${noun}`;
      return { title, unit, series };
    };
    return [panel("calls per second", (row) => row.perSecond), panel("p99, ms", (row) => row.p99)];
  });
  const charts = panels.filter(({ series }) => series.size > 0).map(drawPanel);
  return { wide: layOut(charts, WIDE), narrow: layOut(charts, NARROW) };
}

/** Lays the charts out in columns. */
function layOut(charts: readonly string[], { columns, left, right, legend }: Layout): string {
  const column = left + WIDTH + right;
  const width = columns * column;
  const names = Object.entries(CLASSES);
  const top = 24 + (names.length - 1) * legend[1];
  const height = top + Math.ceil(charts.length / columns) * (TOP + HEIGHT + GAP) + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${STYLE}</style>`,
    ...names.map(([name, color], i) => {
      const [x, y] = [left + i * legend[0], i * legend[1]];
      return (
        `<rect class="${color}" x="${x}" y="${y + 14}" width="14" height="4"/>` +
        `<text x="${x + 20}" y="${y + 20}">${name}</text>`
      );
    }),
    ...charts.map((chart, i) => {
      const x = (i % columns) * column + left;
      const y = Math.floor(i / columns) * (TOP + HEIGHT + GAP) + TOP + top;
      return `<g transform="translate(${x} ${y})">${chart}</g>`;
    }),
    "</svg>\n",
  ].join("\n");
}

/** Draws one chart. Both axes are logarithmic. */
function drawPanel({ title, unit, series }: Panel): string {
  const points = [...series.values()].flat();
  const waits = [...new Set(points.map(({ waiting }) => waiting))].sort((a, b) => a - b);
  const lowest = Math.floor(Math.log10(Math.min(...points.map(({ value }) => value))));
  const highest = Math.ceil(Math.log10(Math.max(...points.map(({ value }) => value))));
  const x = (waiting: number) =>
    waits.length < 2
      ? WIDTH / 2
      : (Math.log(waiting / waits[0]!) / Math.log(waits.at(-1)! / waits[0]!)) * WIDTH;
  const y = (value: number) =>
    HEIGHT - ((Math.log10(value) - lowest) / Math.max(1, highest - lowest)) * HEIGHT;
  const marks = Array.from({ length: highest - lowest + 1 }, (_, i) => 10 ** (lowest + i));
  return [
    `<text x="${-TITLE}" y="-14" class="title">${title}: ${unit}</text>`,
    ...marks.map(
      (mark) =>
        `<line x1="0" x2="${WIDTH}" y1="${y(mark)}" y2="${y(mark)}" class="grid"/>` +
        `<text x="-6" y="${y(mark) + 4}" text-anchor="end">${short.format(mark)}</text>`,
    ),
    ...waits.map(
      (waiting) =>
        `<text x="${x(waiting)}" y="${HEIGHT + 18}" text-anchor="middle">${waiting}</text>`,
    ),
    `<text x="${WIDTH}" y="${HEIGHT + 36}" text-anchor="end" class="about">calls waiting per process</text>`,
    ...[...series].map(([name, line]) => {
      const path = line.map(({ waiting, value }) => `${x(waiting)},${y(value)}`).join(" ");
      const dots = line.map(
        ({ waiting, value }) =>
          `<circle cx="${x(waiting)}" cy="${y(value)}" r="3" class="${CLASSES[name]}"/>`,
      );
      return `<polyline points="${path}" class="${CLASSES[name]}"/>${dots.join("")}`;
    }),
  ].join("");
}
