/**
 * Keeps tests where a reader looks for them: `test/<folder>/<source>[.<aspect>].test.ts` is about the
 * file `<folder>/<source>.ts`. A test that is about no single file is in a folder of `SUBJECTS`.
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Folders of tests that are about no single file. */
const SUBJECTS = new Set([
  "compatibility",
  "docs",
  "drivers",
  "e2e",
  "failover",
  "galera",
  "histories",
  "peers",
  "pg-boss",
  "quick-start",
  "redis",
  "runtimes",
  "scaffolds",
  "scenarios",
  "simulation",
  "types",
]);

const isInstalled = (file: string) => /node_modules|\.tmp|\.next/.test(file);

const entries = await readdir(join(ROOT, "test"), { recursive: true });
const tests = entries.filter((file) => /\.test\.tsx?$/.test(file) && !isInstalled(file));
const lost = tests.filter((file) => {
  if (SUBJECTS.has(file.split("/")[0]!)) return false;
  const source = join(dirname(file), basename(file).split(".")[0]!);
  return ![".ts", ".tsx"].some((extension) => existsSync(join(ROOT, source + extension)));
});
for (const file of lost) {
  console.error(
    `test/${file} is named after no source file: test/<folder>/<source>[.<aspect>].test.ts, or a ` +
      `folder such as test/scenarios`,
  );
}
process.exitCode = lost.length > 0 ? 1 : 0;
