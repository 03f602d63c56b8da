/** The reference, which git does not keep: packing the package writes it. */
import { access, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, inject, it } from "vitest";
import { anchorsOf, proseOf, readPage, REFERENCE, relativeLinksOf } from "../docs/pages.js";
import { makeProject } from "./project.js";

it("an application gets the reference, with a page for each entry point", async ({ skip }) => {
  if (inject("unreachable")) skip(inject("unreachable"));
  await using project = await makeProject();
  await project.install([inject("tarball")]);
  const folder = join(project.root, "node_modules/trpc-rate-limit", REFERENCE);
  const names = await readdir(folder);
  const named = proseOf(await readPage("docs/reference.md")).matchAll(/^\| `(\S+\.md)`/gm);
  expect(names.sort()).toEqual(["README.md", ...[...named].map(([, name]) => name!)].sort());

  const { exports } = JSON.parse(await readFile(join(folder, "../../package.json"), "utf8")) as {
    exports: Record<string, string | object>;
  };
  const entryPoints = Object.entries(exports).filter(
    ([path, target]) => typeof target === "object" && !path.endsWith(".css"),
  );
  expect(names).toHaveLength(entryPoints.length + 1);

  for (const name of names) {
    const page = { path: name, text: await readFile(join(folder, name), "utf8") };
    for (const link of relativeLinksOf(page)) {
      const [file = "", anchor] = link.split("#");
      const target = join(folder, file || name);
      await expect(access(target), `${name} links to ${link}`).resolves.toBeUndefined();
      if (anchor === undefined) continue;
      const text = await readFile(target, "utf8");
      expect(anchorsOf({ path: basename(target), text })).toContain(anchor);
    }
  }
  project.report("reference");
});
