/** From changesets to a version: what `npm run version` does, in a copy of the files it changes. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notesOf } from "../../scripts/release-notes.js";
import { ROOT } from "./pages.js";

const run = promisify(execFile);

describe("a release", () => {
  let folder: string;
  let before: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "release-"));
    for (const path of ["package.json", "CHANGELOG.md", ".changeset"]) {
      await cp(join(ROOT, path), join(folder, path), { recursive: true });
    }
    before = await readFile(join(folder, "CHANGELOG.md"), "utf8");
    // A changeset of its own, so that there is one to release whatever the repository has.
    await cp(join(import.meta.dirname, "changeset.md.txt"), join(folder, ".changeset/test.md"));
    await run("git", ["init", "--quiet", "--initial-branch=main"], { cwd: folder });
    await run(join(ROOT, "node_modules/.bin/changeset"), ["version"], { cwd: folder });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const versionIn = async (path: string) =>
    (JSON.parse(await readFile(join(path, "package.json"), "utf8")) as { version: string }).version;
  const release = () =>
    run(join(ROOT, "node_modules/.bin/tsx"), [join(ROOT, "scripts/release-changelog.ts")], {
      cwd: folder,
    });

  it("uses up the changesets, and raises the version", async () => {
    expect(await readdir(join(folder, ".changeset"))).toEqual(["config.json"]);
    expect(await versionIn(folder)).not.toBe(await versionIn(ROOT));
  });

  it("has the unreleased changes under its version, once", async () => {
    const version = await versionIn(folder);
    await release();
    const after = await readFile(join(folder, "CHANGELOG.md"), "utf8");
    const date = /^Released on (\d{4}-\d\d-\d\d)\.$/m.exec(after)![1];
    const heading = `## Unreleased\n\n## ${version}\n\nReleased on ${date}.\n`;
    expect(after).toBe(before.replace("## Unreleased\n", heading));
    await release();
    expect(await readFile(join(folder, "CHANGELOG.md"), "utf8")).toBe(after);
  });
});

describe("the notes of a release", () => {
  const changelog =
    "# Changelog\n\n## Unreleased\n\n## 1.1.0\n\nNew.\n\n### Fixed\n\n- It.\n\n## 1.1\n";

  it("are the section of its version, whole", () => {
    expect(notesOf("1.1.0", changelog)).toBe("New.\n\n### Fixed\n\n- It.\n");
  });

  it("are never those of another version", () => {
    expect(() => notesOf("1.1.1", changelog)).toThrow('no section "## 1.1.1"');
  });
});

it.each(["README.md", "docs/cli.md", "docs/guides/vite.md"])(
  "has a note in %s that nothing is on npm, until there is a release",
  async (page) => {
    const manifest = await readFile(join(ROOT, "package.json"), "utf8");
    const { version } = JSON.parse(manifest) as { version: string };
    const text = await readFile(join(ROOT, page), "utf8");
    expect(text.includes("Before the first release")).toBe(version === "0.0.0");
  },
);
