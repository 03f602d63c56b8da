import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const REPORTER = join(ROOT, "scripts/results-reporter.ts");

/** The results that the reporter writes about a run of these files. */
async function report(files: Record<string, string>): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "results-"));
  try {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir");
    for (const [name, code] of Object.entries(files)) {
      const text = `import { beforeAll, expect, it } from "vitest";\n${code}`;
      await writeFile(join(folder, name), text);
    }
    const args = ["run", "--root", folder, "--retry", "1", "--reporter", REPORTER];
    const env = {
      ...process.env,
      TEST_RESULTS: join(folder, "results.jsonl"),
      TEST_STEP: "a step",
    };
    // It fails because of the tests that do.
    await promisify(execFile)(join(ROOT, "node_modules/.bin/vitest"), args, { env }).catch(
      (error: unknown) => error,
    );
    return JSON.parse(await readFile(env.TEST_RESULTS, "utf8"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

it("counts tests, and names those that were tried again", async () => {
  const files = {
    "a.test.ts": `let tries = 0;
it("passes", () => {});
it.skip("is skipped", () => {});
it("passes at the second try", () => expect(++tries).toBe(2));
it("fails", () => expect(1).toBe(2));`,
    "hook.test.ts": `beforeAll(() => { throw new Error("no server"); });\nit("does not run", () => {});`,
    "unloadable.test.ts": `import "./nowhere.js";`,
  };
  expect(await report(files)).toEqual({
    step: "a step",
    passed: 2,
    failed: 3,
    skipped: 2,
    failures: ["a.test.ts > fails", "hook.test.ts", "unloadable.test.ts"],
    retried: ["a.test.ts > passes at the second try", "a.test.ts > fails"],
    files: {
      "a.test.ts": expect.any(Number),
      "hook.test.ts": expect.any(Number),
      "unloadable.test.ts": expect.any(Number),
    },
  });
});

it("counts an error that no test has caught", async () => {
  const code = `it("passes", async () => {
  setTimeout(() => { throw new Error("later"); });
  await new Promise((resolve) => setTimeout(resolve, 50));
});`;
  expect(await report({ "a.test.ts": code })).toMatchObject({
    passed: 1,
    failed: 1,
    failures: ["no test: later"],
  });
});
