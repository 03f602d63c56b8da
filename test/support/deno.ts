/** Deno, which runs the built package as in an application. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const DENO_PROJECT = join(ROOT, "test/runtimes/deno");

/** The path of Deno's binary, or `undefined` if it was not installed or does not run here. */
export const deno: string | undefined = findDeno();
/** The message of a test that is skipped without Deno. */
export const NO_DENO = "needs Deno: npm run install:test-projects";

/** The package has a folder for each platform, and npm installs one of them. */
function findDeno(): string | undefined {
  const folder = join(DENO_PROJECT, "node_modules/@deno");
  if (!existsSync(folder)) return undefined;
  const paths = readdirSync(folder).flatMap((platform) =>
    ["deno", "deno.exe"].map((name) => join(folder, platform, name)),
  );
  return paths.find((path) => existsSync(path) && spawnSync(path, ["--version"]).status === 0);
}

/**
 * Copies the built package to the place where npm would install it. Behind a link, Deno finds no types of
 * it.
 */
export async function installInDeno(): Promise<void> {
  const folder = join(DENO_PROJECT, "node_modules/trpc-rate-limit");
  await rm(folder, { recursive: true, force: true });
  for (const name of ["package.json", "dist"]) {
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  }
}

/**
 * Runs Deno in its project, and resolves with what Deno prints.
 *
 * @throws Error with what Deno has printed when it fails.
 */
export async function runDeno(args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: DENO_PROJECT, env: { ...process.env, NO_COLOR: "1", ...env } };
  const run = promisify(execFile)(deno!, args, options);
  const { stdout, stderr } = await run.catch((failure: { stdout: string; stderr: string }) => {
    throw new Error(`Deno has failed:\n${failure.stdout}\n${failure.stderr}`);
  });
  return stdout + stderr;
}
