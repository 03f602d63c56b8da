/** The guide about tests of an application: its tests are run, and fail without the limits. */
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { blocksOf, readPage, ROOT } from "./pages.js";

const PAGE = "docs/guides/testing-an-application.md";
/** The application's own, which its tests must not even load. */
const PRISMA = `throw new Error("a test has loaded the database client");
export const prisma = {};`;

interface Report {
  numPassedTests: number;
  numFailedTests: number;
}

/**
 * In a folder that no other test of the pages empties meanwhile, as `code-blocks.test.ts` does its own.
 *
 * @param edit changes a file of the guide.
 */
async function runGuide(edit: (code: string) => string = (code) => code): Promise<Report> {
  const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = blocksOf(await readPage(PAGE)).map(
    ({ path, code }) => [path!, edit(code)] as const,
  );
  for (const [path, code] of [...files, ["server/prisma.ts", PRISMA] as const]) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  // Two cores may be busy with other tests.
  const args = [vitest, "run", "--root", folder, "--reporter", "json", "--testTimeout", "60000"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return JSON.parse(stdout) as Report;
}

it("has tests that pass, without the database of the application", async () => {
  expect(await runGuide()).toMatchObject({ numPassedTests: 1, numFailedTests: 0 });
});

it("has tests that fail where a procedure has lost its limit", async () => {
  const unlimited = (code: string) => code.replace('.use(rl.rateLimited("sendMessage"))', "");
  expect(await runGuide(unlimited)).toMatchObject({ numPassedTests: 0, numFailedTests: 1 });
});
