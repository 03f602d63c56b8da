/**
 * Installs the projects of tests that need packages of their own, such as another version of
 * Prisma. Without them, their tests are skipped. A project that cannot be installed on this machine
 * is reported, and the others go on.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TESTS = fileURLToPath(new URL("../test/", import.meta.url));

const hasCompiler = ["c++", "make", "python3"].every(
  (command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0,
);

const folders = ["", "runtimes"].flatMap((above) =>
  readdirSync(join(TESTS, above)).map((folder) => join(above, folder)),
);
for (const folder of folders) {
  // React 18 is installed with the package, because all tests of hooks need it.
  if (folder === "react-18" || !existsSync(join(TESTS, folder, "package-lock.json"))) continue;
  console.log(`test/${folder}`);
  const cwd = join(TESTS, folder);
  // A project may have something to generate, such as a database client.
  const isReady =
    npm(cwd, "ci", "--no-audit", "--no-fund") && npm(cwd, "run", "generate", "--if-present");
  if (!isReady) console.error(`test/${folder} was not installed: its tests are skipped`);
}

/** @returns whether it succeeded. */
function npm(cwd: string, ...args: string[]): boolean {
  const { status } = spawnSync("npm", args, {
    cwd,
    // A machine without internet would try for minutes to download better-sqlite3 as a binary.
    env: hasCompiler ? { ...process.env, npm_config_build_from_source: "true" } : process.env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return status === 0;
}
