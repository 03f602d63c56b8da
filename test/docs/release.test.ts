/** From changesets to a version: what `npm run version` does, in a copy of the files it changes. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
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

describe("the workflows", async () => {
  interface Workflow {
    on: Record<string, unknown>;
    jobs: Record<
      string,
      {
        needs?: string;
        uses?: string;
        permissions?: Record<string, string>;
        steps?: { uses?: string; run?: string; with?: Record<string, string> }[];
      }
    >;
  }
  const workflows = join(ROOT, ".github/workflows");
  const read = async (name: string) =>
    parse(await readFile(join(workflows, name), "utf8")) as Workflow;
  const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };

  it.each(await readdir(workflows))("%s runs scripts and workflows that exist", async (name) => {
    const jobs = Object.values((await read(name)).jobs);
    expect(jobs.length).toBeGreaterThan(0);
    for (const { uses, steps = [] } of jobs) {
      expect(uses === undefined || (await read(uses.split("/").at(-1)!)).on).toBeTruthy();
      const commands = steps.flatMap((step) => [step.run, ...Object.values(step.with ?? {})]);
      for (const command of commands) {
        const script = /^npm run (\S+)/.exec(command ?? "")?.[1];
        if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
      }
      for (const step of steps) expect(step.uses ?? "run@v0").toMatch(/^[\w/-]+@v\d+$/);
    }
  });

  it("publish only after the tests, and with provenance", async () => {
    const { jobs } = await read("release.yml");
    expect(jobs["release"]).toMatchObject({
      needs: "test",
      permissions: { "id-token": "write" },
    });
    expect(jobs["test"]!.uses).toBe("./.github/workflows/ci.yml");
    expect((await read("ci.yml")).on).toHaveProperty("workflow_call");
  });
});
