/** Reads the packages that a workspace lists. */
import { dirname } from "node:path";
import { glob } from "tinyglobby";
import { parse } from "yaml";
import { readText } from "../files/files.js";
import { type Member, parsePackage, readMember } from "./member.js";

/** The file of pnpm that lists the folders with packages. */
export const PNPM_WORKSPACE = "pnpm-workspace.yaml";

interface Root {
  root: string;
  globs: readonly string[];
  packageJson: string;
  pnpm: string | undefined;
}

/** The nearest folder that lists packages: the given folder, or a folder above it. */
export async function findRoot(folder: string): Promise<Root | undefined> {
  const packageJson = await readText(folder, "package.json");
  const pnpm = await readText(folder, PNPM_WORKSPACE);
  if (packageJson !== undefined) {
    const listed = isObject(packageJson) ? parsePackage(packageJson).workspaces : undefined;
    const own = Array.isArray(listed) ? listed : (listed as { packages?: unknown })?.packages;
    const globs = [...strings(own), ...pnpmPackages(pnpm ?? "")];
    if (globs.length > 0) return { root: folder, globs, packageJson, pnpm };
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : findRoot(parent);
}

const strings = (value: unknown) =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

function isObject(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null;
  } catch {
    return false;
  }
}

function pnpmPackages(text: string): string[] {
  try {
    return strings((parse(text) as { packages?: unknown } | null)?.packages);
  } catch {
    return [];
  }
}

export async function readMembers(root: string, globs: readonly string[]): Promise<Member[]> {
  const files = await glob(
    globs.map((each) => `${each.replace(/^(!?)\.\//, "$1").replace(/\/$/, "")}/package.json`),
    { cwd: root, ignore: ["**/node_modules/**"], expandDirectories: false },
  );
  const members = files.toSorted().map(async (file): Promise<Member | undefined> => {
    const packageJson = (await readText(root, file)) ?? "";
    return isObject(packageJson) ? readMember(root, dirname(file), packageJson) : undefined;
  });
  return (await Promise.all(members)).filter((member) => member !== undefined);
}
