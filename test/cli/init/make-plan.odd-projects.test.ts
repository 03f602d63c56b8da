/** `init` in odd projects: each file is left alone, or changes as was shown, and only once. */
import { chmod, mkdir, mkdtemp, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { differences } from "../../support/as-shown.js";
import { ODD_APPLICATIONS } from "../../support/odd-applications.js";
import { type OddProject, SCHEMA } from "../../support/odd-project.js";
import { ODD_SCHEMAS } from "../../support/odd-schemas.js";
import { collectInit } from "../../support/run-init.js";
import { openFolder } from "../../support/scaffold.js";

/** In a folder beside `elsewhere`, which is no part of the application. */
async function make({ files, links = {}, readOnly = [] }: OddProject) {
  const parent = await mkdtemp(join(tmpdir(), "odd-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const root = join(parent, "app");
  const all = { ...prefixed("app", files), "elsewhere/schema.prisma": SCHEMA };
  for (const [file, content] of Object.entries(all)) {
    await mkdir(dirname(join(parent, file)), { recursive: true });
    await writeFile(join(parent, file), content);
  }
  for (const [file, target] of Object.entries(links)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await symlink(target, join(root, file));
  }
  for (const file of readOnly) await chmod(join(root, file), 0o555);
  return { root, parent: openFolder(parent), links };
}

const prefixed = <T>(folder: string, files: Record<string, T>) =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));

describe.each([...ODD_SCHEMAS, ...ODD_APPLICATIONS])("a project with $name", (project) => {
  it("keeps each file or changes it as shown, once", async () => {
    const { root, parent, links } = await make(project);
    const before = await parent.readAll();

    const run = collectInit(root);
    if (project.refuses) {
      await expect(run).rejects.toThrow(project.refuses);
      expect(await parent.readAll()).toEqual(before);
      return;
    }
    const printed = await run;
    const after = await parent.readAll();

    const inParent = printed.map((text) => text.replace(/^([-+]{3} [ab]\/)/gm, "$1app/"));
    expect(differences(before, after, inParent)).toEqual([]);
    const changed = Object.keys(after).filter((file) => after[file] !== before[file]);
    expect(changed.toSorted()).toEqual(project.changes.map((file) => `app/${file}`).toSorted());
    for (const pattern of project.says ?? []) expect(printed.join("\n")).toMatch(pattern);
    for (const [file, text] of Object.entries(project.has ?? {})) {
      expect(after[`app/${file}`]).toContain(text);
    }
    expect(JSON.parse(after["app/package.json"]!.replace(/^\u00EF\u00BB\u00BF/, ""))).toBeTruthy();
    for (const [file, target] of Object.entries(links)) {
      expect(await readlink(join(root, file))).toBe(target);
    }

    await collectInit(root);
    expect(await parent.readAll()).toEqual(after);
  });
});
