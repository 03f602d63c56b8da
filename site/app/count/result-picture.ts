/** The result of a run as a picture for a card: 1200 × 630, dark, as the site's own picture. */
import { CALLS, LIMIT, type Run } from "./engine/run.js";
import { isExact, momentOf, verdictOf } from "./explain.js";

export const SIZE = { width: 1200, height: 630 };
export const QUESTION = "Can your rate limiter count to ten?";

const PACKAGE = "trpc-rate-limit";
const MARGIN = 72;
const COLOURS = {
  page: "#14131b",
  /** Flat, largest first: a gradient makes a file of 600 kB. */
  glow: [
    [660, "#191730"],
    [440, "#211e45"],
    [240, "#2b2763"],
  ],
  text: "#eeedf3",
  quiet: "#b9b7c8",
  brand: "#a5a0ff",
  granted: "#5fd39f",
  over: "#ff9d94",
  empty: "#4a4857",
} as const;
const DOTS = { left: 680, top: 250, size: 34, gap: 12, line: 30 };

export interface Pictured {
  run: Run;
  /** Whose code it was: the title of a preset, or "My own code". */
  name: string;
  seed: number;
}

/** What the picture says, for those who do not see it. */
export function textOf({ run, name, seed }: Pictured): string {
  return `${QUESTION} ${name}: ${verdictOf(run)}. ${momentOf(run)} Seed ${seed}. ${PACKAGE}`;
}

/** @throws Error if the browser makes no picture of the canvas. */
export async function pictureOf(pictured: Pictured): Promise<Blob> {
  const canvas = Object.assign(document.createElement("canvas"), SIZE);
  draw(canvas.getContext("2d")!, pictured);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob === null) throw new Error("the browser made no picture of the canvas");
  return blob;
}

export function draw(to: CanvasRenderingContext2D, { run, name, seed }: Pictured): void {
  const { width, height } = SIZE;
  to.fillStyle = COLOURS.page;
  to.fillRect(0, 0, width, height);
  for (const [radius, colour] of COLOURS.glow) {
    drawCircle(to, { x: width, y: 0, radius }, colour, true);
  }

  const whole = width - 2 * MARGIN;
  const beside = DOTS.left - MARGIN - 40;
  const write = (text: string, y: number, font: Font) => writeIn(to, text, y, font);
  drawMark(to);
  writeIn(to, PACKAGE, 98, { size: 30, weight: 650, colour: COLOURS.text, most: 600, x: 134 });
  write(QUESTION, 190, { size: 62, weight: 750, colour: COLOURS.text, most: whole });
  write(name, 278, { size: 34, weight: 500, colour: COLOURS.quiet, most: beside });
  const colour = isExact(run) ? COLOURS.granted : COLOURS.over;
  write(verdictOf(run), 440, { size: 150, weight: 750, colour, most: beside });
  write(momentOf(run), 562, { size: 30, weight: 500, colour: COLOURS.text, most: 830 });
  const end = { size: 26, weight: 500, colour: COLOURS.quiet, most: 200, x: width - MARGIN };
  to.textAlign = "right";
  writeIn(to, `Seed ${seed}`, 562, end);
  to.textAlign = "left";
  drawDots(to, Math.min(run.granted, CALLS));
}

interface Font {
  size: number;
  weight: number;
  colour: string;
  /** A text that would be wider gets smaller letters, px. */
  most: number;
  /** @default the margin */
  x?: number;
}

function writeIn(
  to: CanvasRenderingContext2D,
  text: string,
  y: number,
  { size, weight, colour, most, x = MARGIN }: Font,
): void {
  to.fillStyle = colour;
  const fontOf = (px: number) => `${weight} ${px}px system-ui, sans-serif`;
  to.font = fontOf(size);
  const { width } = to.measureText(text);
  if (width > most) to.font = fontOf(Math.floor((size * most) / width));
  to.fillText(text, x, y);
}

/** The mark of the package: nine tokens, of which five are left. */
function drawMark(to: CanvasRenderingContext2D): void {
  for (let i = 0; i < 9; i++) {
    const place = { x: MARGIN + 6 + 18 * (i % 3), y: 70 + 18 * Math.floor(i / 3) };
    drawCircle(to, { ...place, radius: 6 }, COLOURS.brand, i < 5);
  }
}

/** A dot for each call that may be granted, ten in a row, with the limit below the first row. */
function drawDots(to: CanvasRenderingContext2D, granted: number): void {
  const { left, top, size, gap, line } = DOTS;
  const radius = size / 2;
  for (let i = 0; i < CALLS; i++) {
    const below = i < LIMIT ? 0 : line - gap;
    const x = left + (i % 10) * (size + gap) + radius;
    const y = top + Math.floor(i / 10) * (size + gap) + radius + below;
    if (i >= granted) drawCircle(to, { x, y, radius: radius - 2 }, COLOURS.empty, false);
    else if (i < LIMIT) drawCircle(to, { x, y, radius }, COLOURS.granted, true);
    else drawDiamond(to, x, y, radius);
  }
  to.fillStyle = COLOURS.quiet;
  to.fillRect(left, top + size + line / 2 - 1, 10 * size + 9 * gap, 2);
}

function drawCircle(
  to: CanvasRenderingContext2D,
  { x, y, radius }: { x: number; y: number; radius: number },
  colour: string,
  isFull: boolean,
): void {
  to.beginPath();
  to.arc(x, y, radius, 0, 2 * Math.PI);
  to.fillStyle = to.strokeStyle = colour;
  to.lineWidth = 2.5;
  if (isFull) to.fill();
  else to.stroke();
}

function drawDiamond(to: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  to.beginPath();
  to.moveTo(x, y - radius);
  to.lineTo(x + radius, y);
  to.lineTo(x, y + radius);
  to.lineTo(x - radius, y);
  to.closePath();
  to.fillStyle = COLOURS.over;
  to.fill();
}
