/** The versions that docs/compatibility.md promises are those of package.json. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPage, ROOT } from "./pages.js";

it("lists every peer and Node.js with the versions of package.json", async () => {
  const { engines, peerDependencies } = JSON.parse(
    await readFile(join(ROOT, "package.json"), "utf8"),
  ) as Record<"engines" | "peerDependencies", Record<string, string>>;
  const { text } = await readPage("docs/compatibility.md");
  const [, section = ""] = /## What is supported\n([^]*?)\n## /.exec(text) ?? [];
  const rows = [...section.matchAll(/^\| `?([^`|]+?)`? +\| (.+?) +\|$/gm)];
  const listed = rows.map(([, name, versions]) => [name, versions!.replaceAll("\\|", "|")]);
  expect(Object.fromEntries(listed)).toMatchObject({
    ...peerDependencies,
    "Node.js": engines["node"],
  });
  // The headings, their line, and TypeScript.
  expect(listed).toHaveLength(Object.keys(peerDependencies).length + 4);
});
