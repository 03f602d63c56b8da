/**
 * Adds the package to the dependencies in package.json. The entry is inserted at a position that the
 * parser has found, with the spaces of its neighbour, and no other character changes.
 */
import { type Node, parseTree } from "jsonc-parser";
import type { Change } from "./plan.js";

const NAME = "trpc-rate-limit";

/** The entry, for an author who has to add it. */
export function dependencyEntry(version: string): string {
  return `${JSON.stringify(NAME)}: ${JSON.stringify(`^${version}`)}`;
}

/** The change, or `undefined` if package.json has no list of dependencies that can be extended. */
export function addDependency(before: string, version: string): Change | undefined {
  const after = addEntry(before, ["dependencies"], `^${version}`);
  return after === undefined ? undefined : { file: "package.json", before, after };
}

/** The text with an entry in the list at `path`. `undefined` if there is no such list with entries. */
export function addEntry(
  before: string,
  path: readonly string[],
  version: string,
): string | undefined {
  const entries = entriesAt(before, path);
  if (entries === undefined || entries.length === 0) return undefined;
  const later = entries.findIndex((entry) => nameOf(entry) > NAME);
  const neighbour = entries[later === -1 ? entries.length - 1 : later]!;
  const [name, value] = neighbour.children as [Node, Node];
  // With the spaces that the neighbour has around its colon.
  const colon = before.slice(name.offset + name.length, value.offset);
  const entry = `${JSON.stringify(NAME)}${colon}${JSON.stringify(version)}`;
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
