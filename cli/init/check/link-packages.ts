/** Makes a folder `node_modules` whose packages are links to the packages of the application. */
import { cp, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { allDone, linkFolder, type Locate } from "./copy-sources.js";
import { NotChecked } from "./not-checked.js";

const NAME = "trpc-rate-limit";

/** Packages that are in `to` already stay. */
export async function linkPackages(from: string, to: string, locate: Locate): Promise<void> {
  await mkdir(to, { recursive: true });
  const names = await readdir(from).catch(() => []);
  const linked = names.map(async (name) => {
    if (name.startsWith("@")) return linkPackages(join(from, name), join(to, name), locate);
    // The folders of package managers, and the package itself, which stands elsewhere.
    if (name === NAME || (name.startsWith(".") && name !== ".prisma")) return;
    await linkPackage(join(from, name), join(to, name), locate);
  });
  await allDone(linked);
}

async function linkPackage(from: string, to: string, locate: Locate): Promise<void> {
  if (!(await isFolder(from))) return;
  await linkFolder((await locate(from))!, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/**
 * Copies the types of this package, which may not be installed yet. The copy has the packages that its
 * types import beside itself, in the versions of the application: otherwise, the application's client of
 * tRPC would not be ours.
 *
 * @param folders the folders in which the application may have these packages, the first ones first.
 * @returns the path of the copy.
 */
export async function copyThisPackage(
  to: string,
  folders: readonly string[],
  locate: Locate,
): Promise<string> {
  const own = await ownFolder(dirname(fileURLToPath(import.meta.url)));
  const copy = join(to, NAME);
  await cp(join(own, "dist"), join(copy, "dist"), {
    recursive: true,
    filter: async (path) => /\.d\.c?ts$/.test(path) || (await isFolder(path)),
  });
  const text = await readFile(join(own, "package.json"), "utf8");
  await cp(join(own, "package.json"), join(copy, "package.json"));
  const { peerDependencies } = JSON.parse(text) as { peerDependencies: Record<string, string> };
  for (const name of Object.keys(peerDependencies).flatMap((each) => [each, `@types/${each}`])) {
    const found = await firstFolder(folders.flatMap((each) => placesOf(each, name)));
    if (found === undefined) continue;
    await mkdir(dirname(join(to, name)), { recursive: true });
    await linkPackage(found, join(to, name), locate);
  }
  return copy;
}

/** The folder of this package, whether the command is bundled or not. */
async function ownFolder(folder: string): Promise<string> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "{}");
  const isOwn = (JSON.parse(text) as { name?: string }).name === NAME;
  if (isOwn && (await isFolder(join(folder, "dist/core")))) return folder;
  if (folder === dirname(folder)) throw new NotChecked(`the types of ${NAME} are not there`);
  return ownFolder(dirname(folder));
}

/** The places in which a package is looked for, from a folder upwards. */
export function placesOf(folder: string, name: string): string[] {
  const parent = dirname(folder);
  return [join(folder, "node_modules", name), ...(parent === folder ? [] : placesOf(parent, name))];
}

async function firstFolder(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) if (await isFolder(place)) return place;
  return undefined;
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
