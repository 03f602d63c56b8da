/** Runs a code block of the documentation as a module. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { blocksOf, readPage, ROOT } from "../docs/pages.js";

/**
 * @param path the file that the block names in its first line.
 * @param edit changes the block, as its reader would.
 */
export async function importBlock<TModule>(
  page: string,
  path: string,
  edit: (code: string) => string = (code) => code,
): Promise<TModule> {
  const block = blocksOf(await readPage(page)).find((each) => each.path === path);
  if (block === undefined) throw new Error(`${page} has no block ${path}`);
  const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, edit(block.code));
  return (await import(/* @vite-ignore */ file)) as TModule;
}
