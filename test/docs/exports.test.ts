/** Every export of the package is documented or shown. Other names are not for its users. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ENTRY_POINTS } from "../../scripts/entry-points.js";
import { publishedPages, ROOT } from "./pages.js";

async function exampleSources(): Promise<string[]> {
  const files = await readdir(join(ROOT, "example-app"), { recursive: true });
  const sources = files.filter((file) => /^(?!dist|.*generated).*\.tsx?$/.test(file));
  return Promise.all(sources.map((file) => readFile(join(ROOT, "example-app", file), "utf8")));
}

describe("every function and constant", async () => {
  const pages = await publishedPages();
  const shown = [...pages.map(({ text }) => text), ...(await exampleSources())].join("\n");

  it.each(ENTRY_POINTS)("of $specifier is on a page or in the example", async ({ specifier }) => {
    const exported = Object.keys((await import(specifier)) as object);
    expect(exported.length).toBeGreaterThan(0);
    expect(exported.filter((name) => !new RegExp(`\\b${name}\\b`).test(shown))).toEqual([]);
  });
});
