/** Finds out the versions of packages with which this package works in part, or not at all. */
import { readText } from "../files/files.js";
import { inFolder, type Member } from "./member.js";
import type { Project } from "./project.js";

/** The major version of a package: by its range, or else the one that is installed. */
export async function majorOf(
  project: Project,
  member: Member,
  name: string,
): Promise<number | undefined> {
  const [major] = (await versionOf(project, member, name))?.split(".") ?? [];
  return major === undefined ? undefined : Number(major);
}

/** The lowest version that the range of a package names, or else the one that is installed. */
export async function versionOf(
  { root, pnpm, packageJson }: Project,
  member: Member,
  name: string,
): Promise<string | undefined> {
  const range = member.ranges[name] ?? "";
  const catalog = range.startsWith("catalog:") ? `${pnpm ?? ""}\n${packageJson}` : "";
  const entry = new RegExp(String.raw`${name}["']?\s*:\s*["']?([^"'\s]+)`).exec(catalog)?.[1];
  const written = firstVersion(entry ?? range);
  if (written !== undefined || range === "") return written;
  const file = `node_modules/${name}/package.json`;
  const installed = (await readText(root, inFolder(member, file))) ?? (await readText(root, file));
  return firstVersion(/"version"\s*:\s*"([^"]+)"/.exec(installed ?? "")?.[1] ?? "");
}

function firstVersion(range: string): string | undefined {
  return /^[\^~>=v\s]*(\d[\d.]*)/.exec(range)?.[1];
}
