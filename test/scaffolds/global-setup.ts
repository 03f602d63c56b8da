/**
 * Packs what `npm publish` would send, once for all scaffolds. Without the registry of npm, nothing
 * can be installed, and the tests are skipped.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
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
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", pack, { cwd: ROOT });
  const [{ filename, size, unpackedSize }] = JSON.parse(stdout) as [
    { filename: string; size: number; unpackedSize: number },
  ];
  console.log(`${filename}: ${kilobytes(size)} packed, ${kilobytes(unpackedSize)} unpacked`);
  project.provide("tarball", join(folder, filename));
  const reason = await unreachable();
  if (reason !== "") console.warn(`The scaffolds are skipped: ${reason}`);
  project.provide("unreachable", reason);
  const stopDatabases = await startDatabases(project);
  return async () => {
    await stopDatabases();
    await rm(folder, { recursive: true, force: true });
  };
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
