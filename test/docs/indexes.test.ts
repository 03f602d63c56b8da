/** The indexes of the pages, for people and for assistants, are complete. */
import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { format } from "prettier";
import { describe, expect, it } from "vitest";
import { DESCRIPTIONS, ENTRY_POINTS } from "../../scripts/entry-points.js";
import { docsPages, FOR_ASSISTANTS, readPage, relativeLinksOf, ROOT } from "./pages.js";

async function linkedFrom(index: string): Promise<string[]> {
  return relativeLinksOf(await readPage(index)).map((target) =>
    normalize(join(dirname(index), target.split("#")[0]!)),
  );
}

describe("every page of docs/", async () => {
  const pages = await docsPages();

  it.each(pages)("$path is in llms.txt", async ({ path }) => {
    expect(await linkedFrom("llms.txt")).toContain(path);
  });

  it.each(pages)("$path is in the index of docs/, or in that of the guides", async ({ path }) => {
    if (path === "docs/README.md") return;
    const isGuide = path.startsWith("docs/guides/") && path !== "docs/guides/README.md";
    expect(await linkedFrom(isGuide ? "docs/guides/README.md" : "docs/README.md")).toContain(path);
  });

  it("is two clicks from README.md at most", async () => {
    const first = await linkedFrom("README.md");
    const indexes = first.filter((path) => path.endsWith(".md"));
    const second = (await Promise.all(indexes.map(linkedFrom))).flat();
    const reached = new Set([...first, ...second]);
    expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe("what assistants read", async () => {
  const { files } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    files: string[];
  };

  it.each(FOR_ASSISTANTS)("%s is published", (path) => {
    expect(files.some((entry) => path === entry || path.startsWith(`${entry}/`))).toBe(true);
  });

  it("says in llms.txt what each link leads to", async () => {
    const { text } = await readPage("llms.txt");
    const links = text.split("\n").filter((line) => line.startsWith("- "));
    expect(links.length).toBeGreaterThan(10);
    for (const line of links) expect(line).toMatch(/^- \[[^\]]+\]\([^)]+\): \S.*\.$/);
  });

  it("begins the skill with its name and with when to use it", async () => {
    const { text } = await readPage("skills/trpc-rate-limit/SKILL.md");
    expect(text).toMatch(/^---\nname: trpc-rate-limit\ndescription: \S.{50,1023}\n---\n/);
  });
});

/** `npm run compat:api` writes both pages anew. */
describe("the list of entry points", () => {
  async function expectOn(path: string, list: RegExp, wanted: string): Promise<void> {
    const { text } = await readPage(path);
    expect(text).toMatch(list);
    const written = text.replace(list, () => wanted);
    const parser = "markdown";
    const page = path.endsWith(".md")
      ? await format(written, { parser, printWidth: 100 })
      : written;
    await expect(page).toMatchFileSnapshot(join(ROOT, path));
  }

  it("of docs/reference.md says what each one has", async () => {
    const rows = Object.entries(DESCRIPTIONS).map(
      ([name, { about }]) => `| \`reference/${name}/\` | ${about} |\n`,
    );
    const table = /^\| pages .*\n(?:\|.*\n)+/m;
    await expectOn("docs/reference.md", table, `| pages | has |\n| - | - |\n${rows.join("")}`);
  });

  it("of llms.txt says what each one has", async () => {
    const named = ENTRY_POINTS.map(({ specifier, name, about }) => {
      const shown = specifier === name ? name : `/${name}`;
      return `\`${shown}\` (${about.charAt(0).toLowerCase()}${about.slice(1)})`;
    });
    const sentence = /(?<=^The package has the entry points ).*(?=, and the stylesheets )/m;
    await expectOn("llms.txt", sentence, named.join(", "));
  });
});
