import { expect, it } from "vitest";
import { verdictOf } from "../../../../site/app/count/explain.js";
import { PRESETS } from "../../../../site/app/count/presets.js";
import { runHere } from "../../../../site/app/count/run-here.js";
import { questionOf } from "../../../../site/app/count/static-parts.js";

it("has the verdict of each preset for readers without JavaScript, from a run", async () => {
  const html = await questionOf();
  const [, text = ""] = /<noscript>([\s\S]*?)<\/noscript>/.exec(html) ?? [];
  const said = [...text.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, heading]) => heading);
  const expected: string[] = [];
  for (const { title, code } of PRESETS) {
    expected.push(`${title}: ${verdictOf(await runHere(code, 1))}`);
  }
  expect(said).toEqual(expected);
  expect(text).toContain("if (count &gt;= 10) return false;");
});

it("fills all places, with a button for each preset and a dot for each call", async () => {
  const html = await questionOf();
  expect(html).not.toMatch(/<!--count|undefined/);
  expect(html.match(/aria-pressed/g)).toHaveLength(PRESETS.length);
  expect(html.match(/<i data-outcome="">/g)).toHaveLength(50);
});
