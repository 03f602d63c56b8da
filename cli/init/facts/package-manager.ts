/** Finds out which package manager an application uses. */
import { dirname } from "node:path";
import { readText } from "../files/files.js";

export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

const LOCK_FILES = [
  ["pnpm", "pnpm-lock.yaml"],
  ["yarn", "yarn.lock"],
  ["bun", "bun.lock"],
  ["bun", "bun.lockb"],
  ["npm", "package-lock.json"],
] as const;

/** What package.json or the lock file of a folder says; `undefined` where both are silent. */
export async function packageManagerIn(root: string): Promise<PackageManager | undefined> {
  const packageJson = (await readText(root, "package.json")) ?? "";
  const named = /"packageManager"\s*:\s*"(npm|pnpm|yarn|bun)@/.exec(packageJson)?.[1];
  if (named !== undefined) return named as PackageManager;
  for (const [manager, file] of LOCK_FILES) {
    if ((await readText(root, file)) !== undefined) return manager;
  }
  return undefined;
}

/** Runs a tool that the application has installed. */
export const RUNNERS = {
  npm: "npx",
  pnpm: "pnpm exec",
  yarn: "yarn",
  bun: "bunx",
} as const satisfies Record<PackageManager, string>;

/** The runner of a package, whose lock file may be in a folder above. */
export async function runnerIn(folder: string): Promise<string> {
  const found = await packageManagerIn(folder);
  const parent = dirname(folder);
  return found === undefined && parent !== folder ? runnerIn(parent) : RUNNERS[found ?? "npm"];
}
