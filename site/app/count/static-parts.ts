/** The parts of the page that the code knows, written into its HTML, so that nothing moves when it starts. */
import { CALLS } from "./engine/run.js";
import { PRESETS } from "./presets.js";
import { SHOWN } from "./steps-view.js";

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** By the comment that each part replaces. */
export const STATIC_PARTS: Readonly<Record<string, string>> = {
  "<!--count-presets-->": PRESETS.map(
    ({ title }, i) => `<button type="button" aria-pressed="${i === 0}">${escaped(title)}</button>`,
  ).join(""),
  "<!--count-note-->": escaped(PRESETS[0].note),
  "<!--count-code-->": escaped(PRESETS[0].code),
  "<!--count-dots-->": `<i data-outcome=""></i>`.repeat(CALLS),
  "<!--count-rows-->": "<tr><td>&nbsp;</td><td></td><td></td></tr>".repeat(SHOWN),
};
