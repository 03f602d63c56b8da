/** Copies the files that a compiler reads. */
import { constants, copyFile, mkdir, readdir, realpath, stat, symlink } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { NotChecked } from "./not-checked.js";

const READ_BY_COMPILERS = /\.([cm]?[jt]sx?|json)$/;
/** Lists of packages, and data: larger than code that a person writes. Types may be larger. */
const TOO_LARGE = 2_000_000;
/** Folders with thousands of files, none of which has types. Of `.next`, only the types are read. */
const SKIPPED = /^(\.git|\.turbo|\.yarn|\.cache|\.nx|\.vercel|\.output|\.pnpm-store)$/;
const NEXT = /(^|\/)\.next\/(?!types(\/|$)|dev$|dev\/types(\/|$))/;
/** How many files and folders are looked at. */
const MOST_ENTRIES = 100_000;

/** Where a path of the application is in its copy. */
export type Locate = (path: string) => Promise<string | undefined>;

/**
 * Finds where links have to point in the copy: a source to its copy, and all else to the original, such
 * as a package in node_modules. `undefined` for a path without a file.
 */
export function locateIn(from: string, to: string): Locate {
  return async (path) => {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return undefined;
    const inside = relative(from, real);
    const isPackage = inside.split(sep).includes("node_modules");
    return isInside(from, real) && !isPackage ? join(to, inside) : real;
  };
}

/** Whether a path is a folder, or below it. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way.split(sep)[0] !== "..";
}

/**
 * Resolves with the folders named `node_modules`, which are not copied, relative to `from`.
 *
 * @throws NotChecked if there are too many files.
 */
export async function copySources(from: string, to: string, locate: Locate): Promise<string[]> {
  const packages: string[] = [];
  let count = 0;
  const visit = async (folder: string): Promise<void> => {
    await mkdir(join(to, folder), { recursive: true });
    const entries = await readdir(join(from, folder), { withFileTypes: true });
    count += entries.length;
    if (count > MOST_ENTRIES) throw new NotChecked(`${from} has more than ${MOST_ENTRIES} files`);
    const copied = entries.map(async (entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === "node_modules") packages.push(path);
      else if (SKIPPED.test(entry.name) || NEXT.test(path)) return;
      else if (entry.isDirectory()) await visit(path);
      else if (entry.isSymbolicLink()) await copyLink(join(from, path), join(to, path), locate);
      else if (entry.isFile()) await copyText(join(from, path), join(to, path));
    });
    await allDone(copied);
  };
  await visit("");
  return packages;
}

/**
 * Waits for all, also when one has failed: a copy that still goes on would come back after it is deleted.
 */
export async function allDone(promises: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(promises)) {
    if (each.status === "rejected") throw each.reason;
  }
}

/** A link to a folder stays a link, so that a cycle of links is not followed. */
async function copyLink(path: string, copy: string, locate: Locate): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return copyText(path, copy);
  const target = found?.isDirectory() ? await locate(path) : undefined;
  if (target !== undefined) await linkFolder(target, copy);
}

async function copyText(path: string, copy: string): Promise<void> {
  if (!READ_BY_COMPILERS.test(path)) return;
  const { size } = await stat(path);
  if (size > TOO_LARGE && !/\.[cm]?tsx?$/.test(path)) return;
  // Shares the bytes of the file, where the file system can.
  await copyFile(path, copy, constants.COPYFILE_FICLONE);
}

/** On Windows, a junction needs no rights, unlike a link. */
export function linkFolder(target: string, path: string): Promise<void> {
  return symlink(target, path, "junction");
}
