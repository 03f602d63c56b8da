/**
 * Announces a text to screen readers, after the sentence that they are reading. One live region per
 * document serves all components, and stands outside of them. A region must exist before its text
 * changes, a button's content is not read by itself, and the last text often comes from a component
 * that is being unmounted.
 */
const ID = "trpc-rate-limit-announcer";
const HIDDEN = "position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";

/** @param text left out: the region is created if it is missing, and keeps its text. */
export function announce(text?: string): void {
  // React Native has no document.
  if (typeof document === "undefined") return;
  let region = document.getElementById(ID);
  if (!region) {
    region = document.createElement("div");
    region.id = ID;
    region.setAttribute("role", "status");
    region.style.cssText = HIDDEN;
    document.body.append(region);
  }
  if (text !== undefined) region.textContent = text;
}
