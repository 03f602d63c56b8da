/** The countdown that a page of a test shows. */

/** Matches a `RateLimitCountdown` that counts down. */
export const COUNTDOWN = '[data-state="waiting"][aria-live="off"]';

/** @throws Error where no countdown is shown. */
export function shownCountdown(root: ParentNode = document): HTMLElement {
  const found = root.querySelector<HTMLElement>(COUNTDOWN);
  if (found === null) throw new Error("no countdown is shown");
  return found;
}
