/** The parts of the page that the code knows, written into its HTML, so that nothing moves when it starts. */
import { readFileSync } from "node:fs";
import { CALLS, LIMIT } from "./engine/run.js";
import { explain, verdictOf } from "./explain.js";
import { PRESETS } from "./presets.js";
import { runHere } from "./run-here.js";
import { SHOWN } from "./steps-view.js";

/** The seed with which the page begins. */
const SEED = 1;

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The question with all its parts, as HTML. The presets run for the readers without JavaScript. */
export async function questionOf(): Promise<string> {
  const html = readFileSync(new URL("hero.html", import.meta.url), "utf8");
  const parts: Readonly<Record<string, string>> = {
    "<!--count-presets-->": PRESETS.map(
      ({ title }, i) =>
        `<button type="button" aria-pressed="${i === 0}">${escaped(title)}</button>`,
    ).join(""),
    "<!--count-note-->": escaped(PRESETS[0].note),
    "<!--count-code-->": escaped(PRESETS[0].code),
    "<!--count-dots-->": dotsOf(),
    "<!--count-rows-->": "<tr><td>&nbsp;</td><td></td><td></td></tr>".repeat(SHOWN),
    "<!--count-text-->": `<noscript>${await textOf()}</noscript>`,
  };
  return html.replace(/<!--count-\w+-->/g, (place) => parts[place]!);
}

/** A dot for each call, and a line below those that the limit allows. */
function dotsOf(): string {
  const dots = (count: number) => `<i data-outcome=""></i>`.repeat(count);
  return `${dots(LIMIT)}<span>the limit</span>${dots(CALLS - LIMIT)}`;
}

/** Each preset with its code, its verdict and the reason, from a run at the time of the build. */
async function textOf(): Promise<string> {
  const texts: string[] = [];
  for (const { title, note, code } of PRESETS) {
    const run = await runHere(code, SEED);
    texts.push(
      `<h3>${escaped(title)}: ${verdictOf(run)}</h3><p>${escaped(`${explain(run)} ${note}`)}</p>` +
        `<pre class="code" translate="no"><code>${escaped(code)}</code></pre>`,
    );
  }
  return (
    `<section class="count-text"><h2>Six limiters, and how far they count</h2>` +
    `<p>With JavaScript, you can run them here, or your own. These are the runs of the seed ${SEED}.</p>` +
    `${texts.join("")}</section>`
  );
}
