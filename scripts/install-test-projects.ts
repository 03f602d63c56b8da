/**
 * Installs the projects of tests that need packages of their own, such as another version of Prisma. The
 * tests of a project that is not installed are skipped. A project that cannot be installed on this
 * machine is reported, and the other projects are installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TESTS = fileURLToPath(new URL("../test/", import.meta.url));
/** npm waits for the registry and for the disk half of its time. */
const AT_A_TIME = 2;

const hasCompiler = ["c++", "make", "python3"].every(
  (command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0,
);

const folders = ["", "runtimes"]
  .flatMap((above) => readdirSync(join(TESTS, above)).map((folder) => join(above, folder)))
  // React 18 is installed with the package, because all tests of hooks need it.
  .filter((folder) => folder !== "react-18")
  .filter((folder) => existsSync(join(TESTS, folder, "package-lock.json")));
const remaining = folders.values();
await Promise.all(Array.from({ length: AT_A_TIME }, installRemaining));

async function installRemaining(): Promise<void> {
  // All loops take folders from the same iterator.
  for (const folder of remaining) await install(folder);
}

async function install(folder: string): Promise<void> {
  console.log(`test/${folder}`);
  const cwd = join(TESTS, folder);
  // A project may have files to generate, such as a database client.
  const isReady =
    (await npm(cwd, "ci", "--no-audit", "--no-fund")) &&
    (await npm(cwd, "run", "generate", "--if-present"));
  if (!isReady) console.error(`test/${folder} was not installed: its tests are skipped`);
}

/** @returns whether the command succeeded. */
async function npm(cwd: string, ...args: string[]): Promise<boolean> {
  const child = spawn("npm", args, {
    cwd,
    // A machine without internet would try for minutes to download better-sqlite3 as a binary.
    env: hasCompiler ? { ...process.env, npm_config_build_from_source: "true" } : process.env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [status] = (await once(child, "exit")) as [number | null];
  return status === 0;
}
