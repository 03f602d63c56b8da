/** The reference, which git does not keep: packing the package writes it. */
import { access, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, inject, it } from "vitest";
import { ENTRY_POINTS } from "../../scripts/entry-points.js";
import {
  anchorsOf,
  docsPages,
  proseOf,
  readPage,
  REFERENCE,
  relativeLinksOf,
} from "../docs/pages.js";
import { makeProject } from "./project.js";

it("an application gets the reference, with an index for each entry point and its pages", async ({
  skip,
}) => {
  if (inject("unreachable")) skip(inject("unreachable"));
  await using project = await makeProject();
  await project.install([inject("tarball")]);
  const folder = join(project.root, "node_modules/trpc-rate-limit", REFERENCE);
  const files = await readdir(folder, { recursive: true });
  const names = files.filter((file) => file.endsWith(".md"));
  const named = proseOf(await readPage("docs/reference.md")).matchAll(/^\| `reference\/(\S+)\/`/gm);
  const indexes = [...named].map(([, name]) => `${name}/README.md`);
  expect(names.filter((name) => name.endsWith("README.md")).sort()).toEqual(
    ["README.md", ...indexes].sort(),
  );
  // Names that differ in case alone are one file on some machines.
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);

  expect(indexes).toHaveLength(ENTRY_POINTS.length);

  for (const page of await docsPages()) {
    for (const [, target] of page.text.matchAll(/`reference\/([\w/-]+\.md)`/g)) {
      expect(names.includes(target!), `${page.path} names ${target}`).toBe(true);
    }
  }

  for (const name of names) {
    const page = { path: name, text: await readFile(join(folder, name), "utf8") };
    for (const link of relativeLinksOf(page)) {
      const [file = "", anchor] = link.split("#");
      const target = join(folder, file === "" ? name : join(dirname(name), file));
      await expect(access(target), `${name} links to ${link}`).resolves.toBeUndefined();
      if (anchor === undefined) continue;
      const text = await readFile(target, "utf8");
      expect(anchorsOf({ path: basename(target), text })).toContain(anchor);
    }
  }
  project.report("reference");
});
