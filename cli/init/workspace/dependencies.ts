/** Adds the package to those of a monorepo that import it, by its catalog where it has one. */
import { addEntry, dependencyEntry } from "../dependency.js";
import type { Draft } from "./draft.js";
import { type Member, PNPM_WORKSPACE, type Workspace } from "./workspace.js";

const NAME = "trpc-rate-limit";
const CATALOG = "catalog:";

/** Resolves with whether there is something to install. */
export async function addToMembers(
  draft: Draft,
  workspace: Workspace,
  members: readonly Member[],
  version: string,
): Promise<void> {
  const missing = members.filter(({ packages }) => !packages.has(NAME));
  for (const { folder } of members) draft.seen(`${folder}/package.json`);
  if (missing.length === 0) return;
  const usesCatalog = workspace.members.some(({ packageJson }) =>
    /"@trpc\/server"\s*:\s*"catalog:"/.test(packageJson),
  );
  let spec = `^${version}`;
  if (usesCatalog && (await addToCatalog(draft, workspace, version))) spec = CATALOG;
  for (const { folder } of missing) {
    await draft.edit({
      file: `${folder}/package.json`,
      edit: (text) => addEntry(text, ["dependencies"], spec),
      lines: spec === CATALOG ? `"${NAME}": "${CATALOG}"` : dependencyEntry(version),
      why: "it has no list of dependencies that init can extend",
    });
  }
}

/** Bun's and npm's catalog is in package.json, and that of pnpm in a file of its own. */
async function addToCatalog(
  draft: Draft,
  { pnpm, packageJson }: Workspace,
  version: string,
): Promise<boolean> {
  const range = `^${version}`;
  for (const path of [["workspaces", "catalog"], ["catalog"]]) {
    if (addEntry(packageJson, path, range) === undefined) continue;
    return draft.edit({
      file: "package.json",
      edit: (text) => addEntry(text, path, range),
      lines: dependencyEntry(version),
    });
  }
  if (pnpm === undefined || addToYaml(pnpm, range) === undefined) return false;
  return draft.edit({
    file: PNPM_WORKSPACE,
    edit: (text) => addToYaml(text, range),
    lines: `${NAME}: ${range}`,
  });
}

/** A line in `catalog:`, before the first name that comes later. */
export function addToYaml(text: string, range: string): string | undefined {
  const found = /^catalog:[ \t]*\n((?:[ \t]+\S.*(?:\n|$))+)/m.exec(text);
  if (found === null) return undefined;
  const lines = found[1]!.match(/[^\n]+\n?/g)!;
  const indent = /^[ \t]+/.exec(lines[0])![0];
  const nameOf = (line: string) => /^\s*["']?([^"':]+|[^"']+)["']?\s*:/.exec(line)?.[1] ?? "";
  const later = lines.findIndex((line) => nameOf(line) > NAME);
  const at = later === -1 ? lines.length : later;
  const start = found.index + found[0].length - found[1]!.length;
  const before = lines.slice(0, at).join("");
  const entry = `${indent}${NAME}: ${range}\n`;
  const gap = before.endsWith("\n") || before === "" ? "" : "\n";
  return text.slice(0, start) + before + gap + entry + text.slice(start + before.length);
}
