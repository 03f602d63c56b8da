/** Finds out the versions of packages with which this package works in part, or not at all. */
import { readText } from "../files/files.js";
import { inFolder, type Member } from "./member.js";
import type { Project } from "./project.js";

/** The major version of a package: by its range, or else the one that is installed. */
export async function majorOf(
  { root, pnpm, packageJson }: Project,
  member: Member,
  name: string,
): Promise<number | undefined> {
  const range = member.ranges[name] ?? "";
  const catalog = range.startsWith("catalog:") ? `${pnpm ?? ""}\n${packageJson}` : "";
  const entry = new RegExp(String.raw`${name}["']?\s*:\s*["']?([^"'\s]+)`).exec(catalog)?.[1];
  const written = firstNumber(entry ?? range);
  if (written !== undefined || range === "") return written;
  const file = `node_modules/${name}/package.json`;
  const installed = (await readText(root, inFolder(member, file))) ?? (await readText(root, file));
  return firstNumber(/"version"\s*:\s*"([^"]+)"/.exec(installed ?? "")?.[1] ?? "");
}

function firstNumber(range: string): number | undefined {
  const found = /^[\^~>=v\s]*(\d+)/.exec(range)?.[1];
  return found === undefined ? undefined : Number(found);
}
