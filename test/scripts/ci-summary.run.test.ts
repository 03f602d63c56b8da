/** `.ci/run` itself. In place of npm and Vitest, it runs commands that only print that they were called. */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import config, { projects } from "../../vitest.config.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What `.ci/run` would install where it is missing. */
const TOOLS = ["pgbouncer", "redis-server", "rsync"];

/** @param failing a word in the command that fails */
async function runCi(env: Record<string, string> = {}, failing = "no command") {
  const folder = await mkdtemp(join(tmpdir(), "ci-run-"));
  const calls = join(folder, "calls");
  const program = async (path: string, text: string) => {
    await writeFile(join(folder, path), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, path), 0o755);
  };
  const says = (name: string) =>
    `echo "${name} $*, built: $ALREADY_BUILT" >>${calls}; case "$*" in *"${failing}"*) exit 1;; esac`;
  try {
    for (const part of [".ci", "scripts"]) {
      await cp(join(ROOT, part), join(folder, part), { recursive: true });
    }
    for (const path of ["bin", "node_modules/.bin"]) {
      await mkdir(join(folder, path), { recursive: true });
    }
    await symlink(join(ROOT, "node_modules/tsx"), join(folder, "node_modules/tsx"), "dir");
    for (const tool of TOOLS) await program(join("bin", tool), "exit 0");
    await program("bin/apt-get", says("apt-get"));
    await program("bin/npm", says("npm"));
    await program("node_modules/.bin/vitest", says("vitest"));
    await program("node_modules/.bin/tsx", "exit 0");
    const PATH = `${join(folder, "bin")}:${process.env["PATH"]}`;
    const { code, stdout } = await promisify(execFile)(join(folder, ".ci/run"), {
      env: {
        ...process.env,
        CHROMIUM_PATH: "/bin/sh",
        NIGHTLY: "",
        ALREADY_BUILT: "build",
        ...env,
        PATH,
      },
    }).then(
      (output) => ({ code: 0, ...output }),
      (error: { code: number; stdout: string }) => error,
    );
    const all = (await readFile(calls, "utf8")).trim().split("\n");
    // This machine may have no Galera.
    const called = all.filter((call) => !call.startsWith("apt-get"));
    return { code, lines: stdout.trim().split("\n"), called };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const nameOf = (call: string) => call.split(", built:")[0]!;

it("runs the commands of the README by their names, builds once, and ends with a count", async () => {
  const { code, lines, called } = await runCi();
  expect(called.slice(0, 6)).toEqual([
    "npm ci, built: ",
    "npm run install:test-projects, built: ",
    "npm run pretest, built: ",
    "npm test, built: build generate",
    "npm run check, built: build generate",
    "npm run test:e2e, built: build generate docs:reference",
  ]);
  expect(lines).toContainEqual(expect.stringMatching(/^npm run check +\d+$/));
  expect([code, lines.at(-1)]).toEqual([0, "0 passed, 0 failed, 0 skipped"]);
});

it("runs every project of Vitest at night", async () => {
  const { called } = await runCi({ NIGHTLY: "1" });
  const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const commands = called.map((call) => {
    const [, script] = /^npm run (\S+),/.exec(call) ?? [];
    return script === undefined ? call : (scripts[script] ?? "");
  });
  const named = commands.flatMap((command) =>
    [...command.matchAll(/--project[= ]([\w-]+)/g)].map(([, name]) => name!),
  );
  // Those that `npm test` runs.
  const own = config.test!.projects!.map((project) => {
    return (project as { test: { name: string } }).test.name;
  });
  expect(new Set([...own, ...named])).toEqual(new Set(Object.keys(projects)));
});

it("goes on after a step that fails, names it, and fails", async () => {
  const { code, lines, called } = await runCi({}, "run check");
  expect(called.map(nameOf)).toContain("npm run test:e2e");
  expect(lines).toContainEqual(expect.stringMatching(/^npm run check .*FAILED$/));
  expect([code, lines.at(-1)]).toEqual([1, "0 passed, 1 failed, 0 skipped"]);
});

it("relies on nothing that a failed step should have built", async () => {
  const { called } = await runCi({}, "run pretest");
  expect(called.filter((call) => /built:.*(build|generate)/.test(call))).toEqual([]);
});

it("fails when it ends before its first step", async () => {
  // Its browser is missing, and cannot be installed.
  const { code, lines, called } = await runCi({ CHROMIUM_PATH: "/nowhere" }, "update");
  expect(called).toEqual([]);
  expect([code, lines.at(-1)]).toEqual([1, "0 passed, 1 failed, 0 skipped"]);
});

it("stops where nothing can be installed, and says so in its last line, too", async () => {
  const { code, lines, called } = await runCi({}, "ci");
  expect(called.map(nameOf)).toEqual(["npm ci"]);
  expect([code, lines.at(-1)]).toEqual([1, "0 passed, 1 failed, 0 skipped"]);
});
