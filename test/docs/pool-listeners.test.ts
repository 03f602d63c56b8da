/** Pools of `pg` on the pages. A pool without a listener ends the process when a connection ends. */
import { expect, it } from "vitest";
import { blocksOf, publishedPages } from "./pages.js";

it("listens to the errors of each pool that a page opens", async () => {
  const opened: string[] = [];
  const unheard: string[] = [];
  for (const page of await publishedPages()) {
    for (const { code, path } of blocksOf(page)) {
      for (const [, pool] of code.matchAll(/\b(\w+) = new (?:pg\.)?Pool\(/g)) {
        opened.push(page.path);
        if (!code.includes(`${pool}.on("error", `)) unheard.push(`${page.path}: ${path}`);
      }
    }
  }
  expect(opened).toContain("docs/guides/express.md");
  expect(unheard).toEqual([]);
});
