/** Bun, in which tests run what Node.js does not have. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const path = fileURLToPath(
  new URL("../runtimes/bun/node_modules/bun/bin/bun.exe", import.meta.url),
);

/** The path of Bun's binary, or `undefined` if it was not installed or does not run here. */
export const bun: string | undefined =
  existsSync(path) && spawnSync(path, ["--version"]).status === 0 ? path : undefined;
/** The message of a test that is skipped without Bun. */
export const NO_BUN = "needs Bun: npm run install:test-projects";

export interface BunTests {
  passed: number;
  /** Why the contract has skipped tests. Bun counts them as passed. */
  skipped: string[];
}

/**
 * Runs a file of tests in Bun, whose test runner takes the place of Vitest.
 *
 * @param file relative to `test/runtimes/bun/run`
 * @param flags of Bun itself
 * @throws Error with what Bun has printed when a test fails, or none ran.
 */
export async function testInBun(
  file: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<BunTests> {
  const args = [...flags, "test", "--timeout", "60000", `./test/runtimes/bun/run/${file}`];
  const options = { cwd: ROOT, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 };
  const run = promisify(execFile)(bun!, args, options);
  const { stdout, stderr } = await run.catch((failure: { stdout: string; stderr: string }) => {
    throw new Error(`tests have failed in Bun:\n${failure.stdout}\n${failure.stderr}`);
  });
  const passed = /^ *(\d+) pass$/m.exec(stderr)?.[1] ?? 0;
  const skipped = [...`${stdout}\n${stderr}`.matchAll(/^skipped: (.*)$/gm)];
  return { passed: Number(passed), skipped: skipped.map(([, reason]) => reason!) };
}

/** Runs a program in Bun, and resolves with what it prints. */
export async function runInBun(file: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(bun!, [file, ...args], { cwd: ROOT })).stdout;
}
