/**
 * Packs the files that `npm publish` would send, once for all scaffolds. Without the registry of npm,
 * nothing can be installed, and the tests are skipped.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import startDatabases from "../support/global-setup.js";
import { ROOT } from "../docs/pages.js";

declare module "vitest" {
  interface ProvidedContext {
    tarball: string;
    /** Why nothing can be installed; `""` if it can. */
    unreachable: string;
  }
}

const run = promisify(execFile);

export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), "packed-"));
  const reason = await unreachable();
  project.provide("tarball", reason === "" ? await pack(folder) : "");
  if (reason !== "") console.warn(`The scaffolds are skipped: ${reason}`);
  project.provide("unreachable", reason);
  const stopDatabases = await startDatabases(project);
  return async () => {
    await stopDatabases();
    await rm(folder, { recursive: true, force: true });
  };
}

/** With `prepack`, which builds and writes the reference. Resolves with the path of the tarball. */
async function pack(folder: string): Promise<string> {
  await run("npm", ["pack", "--pack-destination", folder], { cwd: ROOT });
  const [name = ""] = await readdir(folder);
  const { size } = await stat(join(folder, name));
  console.log(`${name}: ${kilobytes(size)} packed`);
  return join(folder, name);
}

async function unreachable(): Promise<string> {
  try {
    await run("npm", ["ping", "--fetch-retries", "0", "--loglevel", "error"], { timeout: 20_000 });
    return "";
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    const detail = stderr.split("\n").find((line) => line.startsWith("npm error"));
    return `they need the registry of npm${detail ? ` (${detail})` : ""}`;
  }
}

const kilobytes = (bytes: number) => `${Math.round(bytes / 1000)} kB`;
