/** A change of an operator in words. */
import type { AdminChangeEntry, AdminOverrideState } from "./admin-types.js";
import type { Formats } from "./formats.js";
import { overrideText } from "./pieces.js";

type Change = Pick<AdminChangeEntry, "action" | "before" | "after" | "undoes">;

/** Such as `Banned until 16:01`, `2 times until Tue 09:00, before: 3 times`, `Ended: banned`. */
export function changeText(change: Change, formats: Formats): string {
  const text = lowerText(change, formats);
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function lowerText({ action, before, after, undoes }: Change, formats: Formats): string {
  const said = (states: readonly AdminOverrideState[]) =>
    states.map((state) => overrideText(state, formats)).join(", ");
  if (action === "reset") return "filled the bucket";
  if (undoes !== undefined) return "undid a change";
  if (action === "clear") return before.length > 0 ? `ended: ${said(before)}` : "ended nothing";
  // An entry that was written before its change, by a process that was killed then.
  if (after.length === 0) return `${action}, perhaps not done`;
  return before.length > 0 ? `${said(after)}, before: ${said(before)}` : said(after);
}
