/** The walk of one warm call through the build: what `npm run walk` prints. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";
import type { Step } from "../../scripts/walk.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Runs in a process of its own, because V8 counts the functions of the files that it has loaded. */
export async function walkOfCall(): Promise<Step[]> {
  const args = ["--import", "tsx", "scripts/walk.ts", "--json"];
  const env = { ...process.env, TEST_POSTGRES_URL: inject("postgresUrl") };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  return JSON.parse(stdout) as Step[];
}
