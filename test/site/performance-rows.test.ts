import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { withRows } from "../../site/performance-rows.js";

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

it("shows the rows that a page names as they stand in docs/performance.md", async () => {
  const performance = await read("docs/performance.md");
  const shown = withRows(await read("site/how-fast.md"), performance);
  const rows = shown.split("\n").filter((line) => /^\| \d × \d/.test(line));
  expect(rows).toHaveLength(12);
  const plain = performance.replaceAll(/ +/g, " ");
  for (const row of rows) expect(plain).toContain(row);
  expect(shown).toContain("| scenario | contender | times the peer | calls/s | p50 ms | p99 ms |");
});

it("refuses a scenario that was not measured", async () => {
  const performance = await read("docs/performance.md");
  expect(() =>
    withRows("<!-- rows of docs/performance.md:\n9 × 9, 1 key\n-->", performance),
  ).toThrow('docs/performance.md has no "9 × 9, 1 key" of ours, pg');
});
