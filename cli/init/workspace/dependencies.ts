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

const DRIZZLE = "drizzle-orm";

/**
 * npm may install Drizzle in the folders of its packages only, and this package in that of the root,
 * where it cannot import it. What the root depends on is installed there.
 */
export async function addDrizzleToRoot(
  draft: Draft,
  { api, db, packageJson, packageManager }: Workspace,
): Promise<void> {
  const owner = [api, db?.member].find((member) => member?.packages.has(DRIZZLE));
  const found = new RegExp(`"${DRIZZLE}"\\s*:\\s*"([^"]+)"`).exec(owner?.packageJson ?? "");
  if (packageManager !== "npm" || found === null) return;
  const [entry, version] = found as unknown as [string, string];
  if (new RegExp(`"${DRIZZLE}"\\s*:`).test(packageJson)) return;
  await draft.edit({
    file: "package.json",
    edit: (text) =>
      addEntry(text, ["dependencies"], version, DRIZZLE) ??
      addEntry(text, ["devDependencies"], version, DRIZZLE),
    lines: entry,
    why: "npm has to install it where this package finds it, and there is no list to extend",
  });
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
