/**
 * A strip with a tick for each denial, in line with the plot above it. Denials do not change the bucket.
 * Many denials come at a time, so on the line they would hide the grants.
 */

/** The height of the strip with the room above it, px. */
export const STRIP_HEIGHT = 26;
const ABOVE = 8;

interface Style {
  strip: string;
  denied: string;
  text: string;
  font: string;
  /** How many pixels of the canvas make one pixel of the page. */
  scale: number;
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * @param plot the box of the plot, in pixels of the canvas.
 * @param xs where the ticks are, in the same pixels.
 */
export function drawDenials(
  ctx: CanvasRenderingContext2D,
  plot: Box,
  xs: readonly number[],
  { strip, denied, text, font, scale }: Style,
): void {
  const top = plot.top + plot.height + ABOVE * scale;
  const height = (STRIP_HEIGHT - ABOVE) * scale;
  ctx.save();
  ctx.fillStyle = strip;
  ctx.fillRect(plot.left, top, plot.width, height);
  ctx.fillStyle = denied;
  const width = 2 * scale;
  for (const x of xs) ctx.fillRect(x - width / 2, top + 2 * scale, width, height - 4 * scale);
  ctx.fillStyle = text;
  ctx.font = font.replace(/^\d+/, (size) => String(Number(size) * scale));
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.fillText("denied", plot.left - 6 * scale, top + height / 2);
  ctx.restore();
}
