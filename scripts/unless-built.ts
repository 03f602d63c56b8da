/**
 * `node --import tsx scripts/unless-built.ts build generate` runs these scripts of package.json, except
 * the scripts that ALREADY_BUILT names. `.ci/run` sets ALREADY_BUILT, because no file changes between its
 * steps. `prepack` does not use this script, so that a published package is always built from the present
 * files.
 */
import { spawnSync } from "node:child_process";

const built = new Set(process.env["ALREADY_BUILT"]?.split(" "));

for (const name of process.argv.slice(2).filter((script) => !built.has(script))) {
  // With a shell, npm is found on Windows, too.
  const { status } = spawnSync(`npm run --silent ${name}`, { shell: true, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
