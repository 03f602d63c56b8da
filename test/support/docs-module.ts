/** Runs code blocks of the documentation as modules. */
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { blocksOf, readPage, ROOT } from "../docs/pages.js";

function createFolder(): string {
  const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function write(folder: string, path: string, code: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, code);
  return file;
}

/**
 * @param path the file that the block names in its first line.
 * @param edit changes the block, as a reader would.
 */
export async function importBlock<TModule>(
  page: string,
  path: string,
  edit: (code: string) => string = (code) => code,
): Promise<TModule> {
  const block = blocksOf(await readPage(page)).find((each) => each.path === path);
  if (block === undefined) throw new Error(`${page} has no block ${path}`);
  const file = await write(createFolder(), path, edit(block.code));
  return (await import(/* @vite-ignore */ file)) as TModule;
}

/** Runs code that is made of a page, such as of the cells of a table. */
export async function importCode<TModule>(code: string): Promise<TModule> {
  const file = await write(createFolder(), "code.ts", code);
  return (await import(/* @vite-ignore */ file)) as TModule;
}

/**
 * The files of a page beside each other, with the files that the page leaves out. Each call makes a fresh
 * copy, so that no test meets the limits of another test. Resolves with a function that imports one of
 * the files.
 *
 * @param scaffold the folder of the files that the page leaves out, within the folder of all scaffolds.
 */
export async function openPage(page: string, scaffold: string) {
  const folder = createFolder();
  const leftOut = join(ROOT, "test/docs/scaffold", scaffold);
  for (const path of await readdir(leftOut, { recursive: true })) {
    if (path.endsWith(".txt")) {
      await cp(join(leftOut, path), join(folder, path.slice(0, -".txt".length)));
    }
  }
  for (const { path, code } of blocksOf(await readPage(page))) {
    if (path !== undefined) await write(folder, path, code);
  }
  return async <TModule>(path: string) =>
    (await import(/* @vite-ignore */ join(folder, path))) as TModule;
}
