/** The tests that a page names behind a guarantee exist, by those names. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allPages, type Page, proseOf, readPage, ROOT } from "./pages.js";

interface Citation {
  file: string;
  titles: string[];
}

/** A file of tests, or of the contract of stores, in backticks, and after a comma the titles: `"one"`, or `"one" and "two"`. */
const CITATION = /`((?:test|testing)\/[^`]+\.tsx?)`(?:, ((?:"[^"]+"(?: and )?)+))?/g;

function citationsOf(page: Page): Citation[] {
  return [...proseOf(page).matchAll(CITATION)].map(([, file, titles = ""]) => ({
    file: file!,
    titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title]) => title!),
  }));
}

describe.each(await allPages())("$path", (page) => {
  it("cites tests that exist by those names", async () => {
    for (const { file, titles } of citationsOf(page)) {
      const source = await readFile(join(ROOT, file), "utf8");
      for (const title of titles) expect(source, `${file} has "${title}"`).toContain(title);
    }
  });
});

describe("the guarantees", async () => {
  const page = await readPage("docs/guarantees.md");
  const sections = page.text.split(/^## /m).slice(1);

  it.each(sections.map((text) => ({ heading: text.split("\n", 1)[0]!, text })))(
    "cite a test for: $heading",
    ({ text }) => {
      expect(citationsOf({ path: page.path, text }).length).toBeGreaterThan(0);
    },
  );

  it("cite no test by a sentence that this file cannot find", () => {
    const quoted = [...proseOf(page).matchAll(/^- `(?:test|testing)\/.*$/gm)].flatMap(([line]) => [
      ...line.matchAll(/"([^"]+)"/g),
    ]);
    const cited = citationsOf(page).flatMap(({ titles }) => titles);
    expect(quoted.map(([, title]) => title)).toEqual(cited);
  });
});
