/**
 * Says something to screen readers once they have finished their sentence. One live region per
 * document, outside of what announces: a region must be there before its text changes, a button's
 * content is not read by itself, and the last word often comes from a component that is leaving.
 */
const ID = "trpc-rate-limit-announcer";
const HIDDEN = "position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";

/** @param text without one, the region is there and says what it said. */
export function announce(text?: string): void {
  let region = document.getElementById(ID);
  if (region === null) {
    region = document.createElement("div");
    region.id = ID;
    region.setAttribute("role", "status");
    region.style.cssText = HIDDEN;
    document.body.append(region);
  }
  if (text !== undefined) region.textContent = text;
}
