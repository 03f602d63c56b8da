import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { withRows } from "../../site/performance-rows.js";

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

it("shows the rows that a page names as they stand in docs/performance.md", async () => {
  const performance = await read("docs/performance.md");
  const shown = withRows(await read("site/how-fast.md"), performance);
  const rows = shown.split("\n").filter((line) => /^\| \d × \d/.test(line));
  expect(rows).toHaveLength(6);
  const plain = performance.replaceAll(/ +/g, " ");
  for (const row of rows) expect(plain).toContain(row);
  expect(shown).toMatch(/^\| scenario \| calls\/s: pg \|.*\n\| -+ \| -+: \|.*\n\| 1 × 1,/m);
});

it("shows rows of the first table, although others have the same scenarios", async () => {
  const other =
    "| scenario | a |\n| --- | --: |\n| 1 × 1, 1 key | 2 |\n\n| scenario | a |\n| 3 × 3 | 4 |\n";
  const named = (name: string) =>
    withRows(`<!-- rows of docs/performance.md:\n${name}\n-->`, other);
  expect(named("1 × 1, 1 key")).toContain("| 1 × 1, 1 key | 2 |");
  expect(() => named("3 × 3")).toThrow('no "3 × 3"');
});

it("refuses a scenario that was not measured", async () => {
  const performance = await read("docs/performance.md");
  expect(() =>
    withRows("<!-- rows of docs/performance.md:\n9 × 9, 1 key\n-->", performance),
  ).toThrow('docs/performance.md has no "9 × 9, 1 key" in its first table');
});
