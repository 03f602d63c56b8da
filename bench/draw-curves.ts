/**
 * Draws the throughput on one row over the number of waiting callers, as SVG: for wide pages, and for
 * phones. The tables have p99, and other keys.
 */
import type { Row } from "./measure.js";
import { curves, OWN_POOL, PEER, PG, type Scenario } from "./scenarios.js";

interface Point {
  waiting: number;
  value: number;
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
/** How far to the left of its chart the title begins, px. The title is as wide as a phone. */
const TITLE = 36;
/** Of the legend, and of the sentence below it, px. */
const LINE = 24;

interface Layout {
  width: number;
  height: number;
  /** Of the chart's upper left corner. The longest number beside its axis needs 39 px. */
  chart: readonly [x: number, y: number];
  /** Of the legend and the sentence. */
  words: readonly [x: number, y: number];
}
const WIDE: Layout = { width: 808, height: 270, chart: [76, 40], words: [440, 60] };
/** 360 px wide, as other pictures for phones. */
const NARROW: Layout = { width: 360, height: 438, chart: [43, 40], words: [7, 296] };

export interface Curves {
  wide: string;
  narrow: string;
}

type Series = Map<string, Point[]>;

export function drawCurves(measured: readonly { scenario: Scenario; rows: Row[] }[]): Curves {
  const { processes, keys } = curves[0]!;
  const series: Series = new Map();
  for (const { scenario, rows } of measured) {
    const { database, roundTrip, tokens, peer } = scenario;
    const isShown =
      scenario.processes === processes &&
      scenario.keys === keys &&
      database === "postgresql" &&
      // Scenarios with another peer have callers of other kinds, or several configs.
      peer === PEER &&
      roundTrip === 0 &&
      tokens > 1000;
    if (!isShown) continue;
    for (const { contender, perSecond } of rows) {
      if (!(contender in CLASSES)) continue;
      const points = series.get(contender) ?? [];
      points.push({ waiting: scenario.waiting, value: perSecond });
      series.set(contender, points);
    }
  }
  const chart = drawChart(`${processes} processes, one row: calls per second`, series);
  const words = sentenceOf(processes, series);
  return { wide: layOut(chart, words, WIDE), narrow: layOut(chart, words, NARROW) };
}

/** The first and the last points of both lines, in words. */
function sentenceOf(processes: number, series: Series): string[] {
  const times = (i: number) => {
    const [ours, peer] = [PG, PEER].map((name) => series.get(name)?.at(i)?.value ?? NaN);
    return ours! / peer!;
  };
  const most = series.get(PG)?.at(-1)?.waiting ?? NaN;
  return [
    `${times(-1).toFixed(0)} times the calls of the peer`,
    `where ${processes} × ${most} callers want one row,`,
    `${times(0).toFixed(1)} times where each process has one.`,
  ];
}

function layOut(chart: string, words: readonly string[], layout: Layout): string {
  const { width, height } = layout;
  const [left, top] = layout.words;
  const names = Object.entries(CLASSES);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${STYLE}</style>`,
    `<g transform="translate(${layout.chart.join(" ")})">${chart}</g>`,
    ...names.map(([name, color], i) => {
      const y = top + i * LINE;
      return (
        `<rect class="${color}" x="${left}" y="${y - 6}" width="14" height="4"/>` +
        `<text x="${left + 20}" y="${y}">${name}</text>`
      );
    }),
    ...words.map((line, i) => {
      const y = top + (names.length + 0.5 + i) * LINE;
      return `<text x="${left}" y="${y}"${i === 0 ? ' class="title"' : ""}>${line}</text>`;
    }),
    "</svg>\n",
  ].join("\n");
}

/** Draws one chart. Both axes are logarithmic. */
function drawChart(title: string, series: Series): string {
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
    `<text x="${-TITLE}" y="-14" class="title">${title}</text>`,
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
