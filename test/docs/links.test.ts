/** Links between pages lead somewhere, and the files that pages name exist. */
import { access, readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import {
  allPages,
  anchorsOf,
  blocksOf,
  inlineCodeOf,
  publishedPages,
  readPage,
  REFERENCE,
  relativeLinksOf,
  ROOT,
} from "./pages.js";

const FOLDERS =
  "core|server|client|cli|testing|prisma|example-app|test|bench|scripts|docs|\\.ci|\\.github";
const PATH = new RegExp(`^(?:${FOLDERS})/[\\w./-]*$`);

async function declarationsIn(folder: string): Promise<string> {
  const entries = await readdir(join(ROOT, folder), { recursive: true });
  const files = entries.filter((file) => file.endsWith(".d.ts"));
  return (
    await Promise.all(files.map((file) => readFile(join(ROOT, folder, file), "utf8")))
  ).join();
}

describe.each(await allPages())("$path", (page) => {
  it("links to pages, files and headings that exist", async () => {
    for (const target of relativeLinksOf(page)) {
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? page.path : normalize(join(dirname(page.path), file));
      await expect(access(join(ROOT, path)), `${target} exists`).resolves.toBeUndefined();
      expect(`${path}/`.startsWith(REFERENCE), `${target} is not in the repository`).toBe(false);
      if (anchor !== undefined) expect(anchorsOf(await readPage(path))).toContain(anchor);
    }
  });

  it("names files that exist, or that it shows", async () => {
    const shown = new Set(blocksOf(page).map(({ path }) => path));
    const named = inlineCodeOf(page).filter((code) => PATH.test(code) && !shown.has(code));
    for (const path of named) {
      await expect(access(join(ROOT, path)), `${path} exists`).resolves.toBeUndefined();
    }
  });
});

describe("the published pages", async () => {
  const pages = await publishedPages();

  it("name only functions that the package exports or returns", async () => {
    // The examples declare some of them.
    const examples = pages.flatMap(blocksOf).map(({ code }) => code);
    const declared = [await declarationsIn("dist"), ...examples].join("\n");
    const names = pages.flatMap(inlineCodeOf).map((code) => /^(?:\w+\.)?(\w+)\(/.exec(code)?.[1]);
    const unknown = names.filter((name) => name && !new RegExp(`\\b${name}\\b`).test(declared));
    expect(unknown).toEqual([]);
  });

  it("can all be reached from the README", async () => {
    const reached = new Set(["README.md"]);
    for (const path of reached) {
      for (const target of relativeLinksOf(await readPage(path))) {
        const file = normalize(join(dirname(path), target.split("#")[0]!));
        if (/\.(?:md|txt)$/.test(file)) reached.add(file);
      }
    }
    for (const { path } of pages) expect(reached).toContain(path);
  });

  it("state the sizes that the build is held to", async () => {
    const { "size-limit": limits } = JSON.parse((await readPage("package.json")).text) as {
      "size-limit": { name: string; limit: string }[];
    };
    const text = pages.map((page) => page.text).join("\n");
    expect(limits.length).toBeGreaterThan(0);
    for (const { limit } of limits) expect(text).toContain(limit);
  });
});
