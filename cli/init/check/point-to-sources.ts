/**
 * Lets the copy of an application compile from its sources, where the application compiles against what
 * it has built: that was built before the changes.
 */
import { parse } from "jsonc-parser";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFolder, readText } from "../files/files.js";

/** Removes the references of a project to other projects. */
export async function removeReferences(root: string, config: string): Promise<void> {
  const text = (await readText(root, config)) ?? "{}";
  const settings = parse(text, [], { allowTrailingComma: true }) as Record<string, unknown>;
  delete settings["references"];
  await writeFile(join(root, config), JSON.stringify(settings));
}

/**
 * Points the entries of a package.json to the sources, where they point to types that were built.
 * Resolves with whether there was such an entry.
 */
export async function pointToSources(root: string, folder: string): Promise<boolean> {
  const file = join(folder, "package.json");
  const manifest = JSON.parse((await readText(root, file)) ?? "{}") as Record<string, unknown>;
  let isChanged = false;
  const pointed = async (value: unknown): Promise<unknown> => {
    if (typeof value === "string") {
      const source = await sourceOf(join(root, folder), value);
      isChanged ||= source !== undefined;
      return source ?? value;
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(async ([key, each]) => [key, await pointed(each)]);
    return Object.fromEntries(await Promise.all(entries)) as unknown;
  };
  for (const key of ["exports", "types", "typings", "main"]) {
    if (key in manifest) manifest[key] = await pointed(manifest[key]);
  }
  if (isChanged) await writeFile(join(root, file), JSON.stringify(manifest));
  return isChanged;
}

const BUILT = /^(?:\.\/)?(?:dist|build|lib|out)\/(?:src\/)?(.+?)(?:\.d)?\.[cm]?[jt]s$/;

/** The source of a file that was built; of a pattern such as `./dist/*.d.ts`, the sources. */
async function sourceOf(root: string, built: string): Promise<string | string[] | undefined> {
  const name = BUILT.exec(built)?.[1];
  if (name === undefined) return undefined;
  const places = ["ts", "tsx"].map((ending) => `./src/${name}.${ending}`);
  if (name.includes("*")) {
    const folder = `src/${name.slice(0, name.indexOf("*"))}`;
    return (await isFolder(root, folder)) ? places : undefined;
  }
  for (const place of places) if ((await readText(root, place)) !== undefined) return place;
  return undefined;
}
