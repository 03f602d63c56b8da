/**
 * Fills a bar between whole tokens, too. The browser runs one animation for each change of the limit,
 * so nothing renders and no code of the page runs while the bar fills, and a hidden page does not fill.
 * Measured and rejected: animating the width, 9 % of a core for its layouts, against 0.2 %.
 */
import type { CheckedRateLimit } from "../types.js";

/**
 * Moves the bar of a token bucket from what is there now to full, in time with the refill. Meanwhile the
 * bar is as wide as its track, and the track cuts off the part of the bar outside. With a debt, the bar
 * starts further outside, so it comes in when the debt is repaid.
 *
 * @param held the prediction for a call for `scale` tokens: all tokens that the bar can show.
 * @param width of the bar where it stands still.
 */
export function fillSmoothly(
  bar: SVGElement | null,
  held: CheckedRateLimit | undefined,
  scale: number,
  width: string,
): void {
  // Test environments have no animations.
  if (!bar?.animate) return;
  bar.getAnimations()[0]?.cancel();
  bar.setAttribute("width", width);
  if (held?.retryAt && !matchMedia("(prefers-reduced-motion)").matches) {
    bar.setAttribute("width", "100%");
    const now = Date.now();
    // A closed bucket does not refill before it opens.
    const delay = Math.max(0, (held.closedUntil ?? now) - now);
    bar.animate(
      { transform: `translateX(${(held.value / scale) * 100}%)`, offset: 0 },
      // Credits never fill up by themselves. Their animation stands still.
      { fill: "backwards", delay, duration: Math.max(0, held.retryAt - now - delay) },
    );
  }
}
