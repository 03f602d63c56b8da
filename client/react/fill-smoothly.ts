/**
 * Has a bar fill between whole tokens. The browser runs one animation for each change of the limit,
 * so nothing renders and no code of the page runs while it fills, and a hidden page does not fill.
 * Measured and rejected: animating the width, 9 % of a core for its layouts, against 0.2 %.
 */
import type { CheckedRateLimit } from "../types.js";

/**
 * Moves the bar of a token bucket from what is there now to full, in time with the refill. The bar is
 * as wide as its track then, which cuts off what is outside. A debt is further outside, and so the bar
 * comes in when the debt is repaid.
 *
 * @param held after a call for `scale` tokens, which are all that the bar shows.
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
