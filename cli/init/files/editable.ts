/** Finds out whether `init` may change a file, or has to leave the file to its author. */
import { access, constants, lstat, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

/** The reason why a file has to be left alone. `undefined` if the file can be changed, or made. */
export async function whyNotEditable(root: string, file: string): Promise<string | undefined> {
  const path = join(root, file);
  const real = await existing(path);
  if (real === undefined && (await isLink(path))) return "it is a link to a file that is missing";
  const place = real ?? (await nearestFolder(dirname(path)));
  if (!isInside(await realpath(root), place)) {
    return `it is outside of this folder: ${real ?? join(place, file.split("/").at(-1)!)}`;
  }
  if (await isReadOnly(place)) {
    return real === undefined ? "its folder is read-only" : "it is read-only";
  }
  if (real === undefined) return undefined;
  if (await isReadOnly(dirname(real))) return "its folder is read-only";
  return isUtf8(await readFile(real)) ? undefined : "it is not valid UTF-8";
}

async function existing(path: string): Promise<string | undefined> {
  return realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

async function nearestFolder(folder: string): Promise<string> {
  return (await existing(folder)) ?? nearestFolder(dirname(folder));
}

function isInside(root: string, path: string): boolean {
  const [first] = relative(root, path).split(sep);
  return first !== "..";
}

/** Checks the mode of the file, too, because root may write any file. */
async function isReadOnly(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o222) === 0) return true;
  return access(path, constants.W_OK).then(
    () => false,
    () => true,
  );
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
