/** Packages that a plan adds to a package.json: the package manager has not linked them yet. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inFolder, parsePackage } from "../facts/member.js";
import type { Project } from "../facts/project.js";
import type { Change } from "../plan.js";
import { linkFolder } from "./copy-sources.js";
import { placesOf } from "./link-packages.js";

/**
 * Links the packages of the workspace in the copy of the application. Resolves with the names of all other
 * packages that are added and not installed: of their types, nothing is known.
 */
export async function linkAddedPackages(
  { root, members }: Project,
  changes: readonly Change[],
  copy: string,
): Promise<Set<string>> {
  const unknown = new Set<string>();
  for (const member of members) {
    const after = changes.find(({ file }) => file === inFolder(member, "package.json"))?.after;
    const { dependencies, devDependencies } = after === undefined ? {} : parsePackage(after);
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      const places = placesOf(join(root, member.folder), name);
      if (member.packages.has(name) || places.some((place) => existsSync(place))) continue;
      const added = members.find((each) => each.name === name);
      if (added === undefined) unknown.add(name);
      else {
        const place = join(copy, member.folder, "node_modules", name);
        await mkdir(dirname(place), { recursive: true });
        await linkFolder(join(copy, added.folder), place);
      }
    }
  }
  return unknown;
}
