/** The versions that docs/compatibility.md promises are those of package.json and of `doctor`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TRIED } from "../../cli/doctor/check-versions.js";
import { readPage, ROOT } from "./pages.js";

it("lists every peer, Prisma, Drizzle and Node.js with the versions that the code has", async () => {
  const { engines, peerDependencies } = JSON.parse(
    await readFile(join(ROOT, "package.json"), "utf8"),
  ) as Record<"engines" | "peerDependencies", Record<string, string>>;
  const { text } = await readPage("docs/compatibility.md");
  const [, section = ""] = /## What is supported\n([^]*?)\n## /.exec(text) ?? [];
  const rows = [...section.matchAll(/^\| `?([^`|]+?)`? +\| ((?:[^|\\]|\\\|)+?) +\| .*\|$/gm)];
  const listed = rows.map(([, name, versions]) => [name, versions!.replaceAll("\\|", "|")]);
  expect(Object.fromEntries(listed)).toMatchObject({
    ...peerDependencies,
    ...TRIED,
    "Node.js": engines["node"],
  });
  // The headings, their line, Node.js and TypeScript.
  const names = Object.keys({ ...peerDependencies, ...TRIED });
  expect(listed).toHaveLength(names.length + 4);
});
