/** The indexes of the pages, for people and for assistants, are complete. */
import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
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
  const { files, exports } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    files: string[];
    exports: Record<string, string | object>;
  };

  it.each(FOR_ASSISTANTS)("%s is published", (path) => {
    expect(files.some((entry) => path === entry || path.startsWith(`${entry}/`))).toBe(true);
  });

  it("names in llms.txt every entry point", async () => {
    const { text } = await readPage("llms.txt");
    const withCode = Object.keys(exports).filter((path) => typeof exports[path] === "object");
    const named = withCode.map((path) =>
      path === "." ? "`trpc-rate-limit`" : `\`${path.slice(1)}\``,
    );
    expect(named.filter((name) => !text.includes(name))).toEqual([]);
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
