/** Reads the application's files, and writes each of them as a whole or not at all. */
import { randomBytes } from "node:crypto";
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError } from "../../cli-error.js";
import { whyNotEditable } from "./editable.js";
import { likeOriginal, normalized } from "./line-ends.js";
import type { Change } from "../plan.js";

/**
 * The text of a file with `\n` at the ends of lines and without a byte order mark; `undefined` if there
 * is no such file. Bytes that are not UTF-8 become U+FFFD: such a text must not be written back.
 */
export async function readText(root: string, file: string): Promise<string | undefined> {
  const raw = await readRaw(join(root, file));
  return raw === undefined ? undefined : normalized(raw);
}

async function readRaw(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code ?? "")) return undefined;
    throw error;
  });
}

export async function isFolder(root: string, file: string): Promise<boolean> {
  return stat(join(root, file)).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Folders that have no sources of the application. */
const SKIPPED = /^(\..*|node_modules|dist|build|out|coverage|generated|public)$/;
/** How deep folders are searched. */
const DEPTH = 6;

/** The files under a folder with a name that matches, sorted, relative to `root`. */
export async function listFiles(root: string, folder: string, name: RegExp): Promise<string[]> {
  const visit = async (current: string, depth: number): Promise<string[]> => {
    const entries = await readdir(join(root, current), { withFileTypes: true });
    const found = entries.map(async (entry): Promise<string[]> => {
      const path = current === "" ? entry.name : `${current}/${entry.name}`;
      if (!entry.isDirectory()) return name.test(entry.name) ? [path] : [];
      return SKIPPED.test(entry.name) || depth === 0 ? [] : visit(path, depth - 1);
    });
    return (await Promise.all(found)).flat();
  };
  return (await visit(folder, DEPTH)).toSorted();
}

/**
 * Writes a temporary file beside the file, and renames it: the file has the old text or the new text at
 * any time.
 *
 * @throws CliError when the file has changed since the change was planned.
 */
export async function writeChange(root: string, { file, before, after }: Change): Promise<void> {
  const path = join(root, file);
  if ((await whyNotEditable(root, file)) !== undefined) throw changedMeanwhile(file);
  if (before === undefined) {
    await mkdir(dirname(path), { recursive: true });
    await beside(path, after, (temporary) =>
      // Unlike `rename`, `link` never replaces a file.
      link(temporary, path).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "EEXIST" ? changedMeanwhile(file) : error;
      }),
    );
    return;
  }
  // A link stays a link.
  const real = await realpath(path);
  const raw = await readRaw(real);
  if (raw === undefined || normalized(raw) !== before) throw changedMeanwhile(file);
  const { mode } = await stat(real);
  await beside(real, likeOriginal(raw, after), async (temporary) => {
    await chmod(temporary, mode);
    await rename(temporary, real);
  });
}

function changedMeanwhile(file: string): CliError {
  return new CliError(`${file} has changed meanwhile; it was left as it is. Run init again`);
}

async function beside(
  path: string,
  text: string,
  place: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx" });
    await place(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}
