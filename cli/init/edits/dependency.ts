/**
 * Adds packages to package.json, or to the catalog of a workspace. An entry is inserted at a position
 * that the parser has found, with the spaces of its neighbour. No other character changes.
 */
import { posix } from "node:path";
import { type Node, parseTree } from "jsonc-parser";
import { isMap, isScalar, parseDocument } from "yaml";
import type { Draft } from "../draft.js";
import { inFolder, type Member, parsePackage } from "../facts/member.js";
import type { Project } from "../facts/project.js";
import { PNPM_WORKSPACE } from "../facts/workspace.js";

const NAME = "trpc-rate-limit";
const CATALOG = "catalog:";

/**
 * Resolves with whether package.json names the package afterwards. A package.json without dependencies is
 * left to the package manager.
 *
 * @param members the members that import the package.
 */
export async function addPackage(
  draft: Draft,
  project: Project,
  members: readonly Member[],
  version: string,
): Promise<boolean> {
  const missing = members.filter(({ packages }) => !packages.has(NAME));
  for (const member of members) {
    if (!missing.includes(member)) draft.seen(inFolder(member, "package.json"));
  }
  const [only] = missing;
  if (only === undefined) return true;
  const isEmpty = (entriesAt(only.packageJson, ["dependencies"]) ?? []).length === 0;
  if (only.folder === "" && isEmpty) return false;
  const said = rangeIn(project);
  const range = said?.range ?? `^${version}`;
  const usesCatalog = project.members.some(({ packageJson }) =>
    /"@trpc\/server"\s*:\s*"catalog:"/.test(packageJson),
  );
  const isPath = /^(file|link):/.test(range);
  const isInCatalog = usesCatalog && !isPath && (await addToCatalog(draft, project, range));
  for (const member of missing) {
    const own = isPath ? movedPath(range, said?.folder ?? "", member.folder) : range;
    await addDependency(draft, member, NAME, isInCatalog ? CATALOG : own);
  }
  return true;
}

/** What a package.json of the workspace says already, for example the path of a tarball. */
function rangeIn({ packageJson, members }: Project): { range: string; folder: string } | undefined {
  const { dependencies, devDependencies } = parsePackage(packageJson);
  const root = { folder: "", ranges: { ...dependencies, ...devDependencies } };
  return [root, ...members].flatMap(({ folder, ranges }) => {
    const range = ranges[NAME];
    return range === undefined || range === CATALOG ? [] : [{ range, folder }];
  })[0];
}

/** `file:../a.tgz` of one folder, for another folder. */
function movedPath(range: string, from: string, to: string): string {
  const [, protocol, path] = /^(\w+:)(.*)$/.exec(range)!;
  if (posix.isAbsolute(path!)) return range;
  const up = "../".repeat(to === "" ? 0 : to.split("/").length);
  return protocol! + posix.join(up, from, path!);
}

/** The application imports the database of another package, which it may have got by its server only. */
export async function addDatabasePackage(
  draft: Draft,
  { members, packageManager }: Project,
  member: Member,
  { name }: Member,
): Promise<void> {
  if (member.name === name || member.packages.has(name)) return;
  const usual = /^(npm|yarn)$/.test(packageManager) ? "*" : "workspace:*";
  const range = members.map(({ ranges }) => ranges[name]).find(Boolean) ?? usual;
  await addDependency(draft, member, name, range);
}

/** Adds a peer of this package that an application may not have. */
export async function addPeer(
  draft: Draft,
  { members }: Project,
  importing: readonly Member[],
  [name, usual]: readonly [name: string, range: string],
): Promise<void> {
  const range = members.map(({ ranges }) => ranges[name]).find(Boolean) ?? usual;
  for (const member of new Set(importing)) {
    if (!member.packages.has(name)) await addDependency(draft, member, name, range);
  }
}

export async function addDependency(
  draft: Draft,
  member: Member,
  name: string,
  range: string,
  list = "dependencies",
): Promise<boolean> {
  return draft.editText({
    file: inFolder(member, "package.json"),
    edit: (text) => addEntry(text, [list], name, range),
    lines: `${JSON.stringify(name)}: ${JSON.stringify(range)}`,
    why: `it has no list ${list} that init can extend`,
  });
}

/** The catalog of Bun and npm is in package.json. The catalog of pnpm is in a file of its own. */
async function addToCatalog(
  draft: Draft,
  { pnpm, packageJson }: Project,
  range: string,
): Promise<boolean> {
  for (const path of [["workspaces", "catalog"], ["catalog"]]) {
    if (addEntry(packageJson, path, NAME, range) === undefined) continue;
    return draft.editText({
      file: "package.json",
      edit: (text) => addEntry(text, path, NAME, range),
      lines: `"${NAME}": "${range}"`,
    });
  }
  if (pnpm === undefined || addToYaml(pnpm, range) === undefined) return false;
  return draft.editText({
    file: PNPM_WORKSPACE,
    edit: (text) => addToYaml(text, range),
    lines: `${NAME}: ${range}`,
  });
}

/** The text with an entry in the list at `path`. `undefined` if there is no such list with entries. */
function addEntry(
  before: string,
  path: readonly string[],
  added: string,
  range: string,
): string | undefined {
  const entries = entriesAt(before, path);
  if (entries === undefined || entries.length === 0) return undefined;
  if (entries.some((entry) => nameOf(entry) === added)) return before;
  const later = entries.findIndex((entry) => nameOf(entry) > added);
  const neighbour = entries[later === -1 ? entries.length - 1 : later]!;
  const [name, value] = neighbour.children as [Node, Node];
  // Copy the spaces around the colon of the neighbour.
  const colon = before.slice(name.offset + name.length, value.offset);
  const entry = `${JSON.stringify(added)}${colon}${JSON.stringify(range)}`;
  const space = /\s*$/.exec(before.slice(0, neighbour.offset))![0];
  const end = neighbour.offset + neighbour.length;
  return later === -1
    ? `${before.slice(0, end)},${space}${entry}${before.slice(end)}`
    : `${before.slice(0, neighbour.offset)}${entry},${space}${before.slice(neighbour.offset)}`;
}

/** The entries of the list, unless there are several such lists. */
function entriesAt(text: string, path: readonly string[]): Node[] | undefined {
  let node = parseTree(text, [], { disallowComments: true });
  for (const name of path) {
    const lists = (node?.children ?? []).filter((property) => nameOf(property) === name);
    node = lists.length === 1 ? lists[0]!.children![1] : undefined;
  }
  return node?.type === "object" ? node.children : undefined;
}

function nameOf({ children }: Node): string {
  return String(children?.[0]?.value);
}

/** Adds a line to `catalog:`, before the first name that comes later in the alphabet. */
export function addToYaml(text: string, range: string): string | undefined {
  const document = parseDocument(text);
  const catalog = document.errors.length === 0 ? document.get("catalog") : undefined;
  if (!isMap(catalog) || catalog.items.length === 0 || catalog.flow) return undefined;
  const entries = catalog.items.flatMap(({ key }) =>
    isScalar(key) && key.range ? [{ name: String(key.value), start: key.range[0] }] : [],
  );
  const [first] = entries;
  if (first === undefined) return undefined;
  const lineStart = (at: number) => text.lastIndexOf("\n", at - 1) + 1;
  const indent = text.slice(lineStart(first.start), first.start);
  const later = entries.find(({ name }) => name > NAME);
  const entry = `${indent}${NAME}: ${range}\n`;
  if (later !== undefined) {
    const at = lineStart(later.start);
    return text.slice(0, at) + entry + text.slice(at);
  }
  const next = text.indexOf("\n", entries.at(-1)!.start);
  return next === -1 ? `${text}\n${entry}` : text.slice(0, next + 1) + entry + text.slice(next + 1);
}
