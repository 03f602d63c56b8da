/** The versions that docs/compatibility.md promises are those of package.json and of `doctor`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { format } from "prettier";
import { expect, it } from "vitest";
import { TRIED } from "../../cli/doctor/check-versions.js";
import { pageWith, readRecord } from "../../scripts/matrix/record.js";
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

it("says what the record of npm run matrix says", async () => {
  const { text } = await readPage("docs/compatibility.md");
  const written = pageWith(text, await readRecord());
  expect(await format(written, { parser: "markdown" })).toBe(text);
});

it("has run the tests on each maintained Node.js, and the oldest of each peer", async () => {
  const { node, peers } = await readRecord();
  const majors = Object.keys(node).map((version) => version.split(".")[0]);
  expect(majors).toEqual(expect.arrayContaining(["22", "24", "26"]));
  for (const suites of Object.values(node)) {
    for (const { passed, failed } of Object.values(suites)) {
      expect(failed).toBe(0);
      expect(passed).toBeGreaterThan(0);
    }
  }
  const { peerDependencies } = JSON.parse(
    await readFile(join(ROOT, "package.json"), "utf8"),
  ) as Record<"peerDependencies", Record<string, string>>;
  for (const [name, range] of Object.entries(peerDependencies)) {
    expect(peers[name]).toContain(/\d+\.\d+\.\d+/.exec(range)![0]);
  }
});
