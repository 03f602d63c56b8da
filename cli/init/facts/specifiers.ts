/** The specifiers by which the files of an application import each other. */
import { specifierOf } from "./import-style.js";
import { insideOf, type Member, memberOf } from "./member.js";
import type { Project } from "./project.js";

/** The specifier by which a file of the project imports another file, or a name of it. */
export function specifierOfFile(
  { members, api, users }: Project,
  from: string,
  to: string,
  name?: string,
): string {
  const [a, b] = [memberOf(members, from), memberOf(members, to)];
  if (a === b) return specifierInside(a, from, to);
  const used = name === undefined ? undefined : usedSpecifier([api, ...users], b, name);
  return used ?? specifierTo(b, to) ?? b.name;
}

/**
 * The specifier by which another package imports a file of a member; `undefined` if `exports` does not
 * allow it.
 */
function specifierTo({ name, folder, exports }: Member, file: string): string | undefined {
  const path = `./${file.slice(folder.length + 1)}`;
  if (exports === undefined) return `${name}/${path.slice(2).replace(/\.tsx?$/, "")}`;
  const entries =
    typeof exports === "object" && exports !== null && !Array.isArray(exports)
      ? Object.entries(exports)
      : [[".", exports] as const];
  for (const [key, target] of entries) {
    for (const text of targetsOf(target)) {
      const [start, end] = text.split("*") as [string, string | undefined];
      if (end === undefined ? text !== path : !path.startsWith(start) || !path.endsWith(end)) {
        continue;
      }
      const middle = path.slice(start.length, path.length - (end ?? "").length);
      return name + key.slice(1).replace("*", middle);
    }
  }
  return undefined;
}

function targetsOf(target: unknown): string[] {
  if (typeof target === "string") return [target];
  if (typeof target !== "object" || target === null) return [];
  return Object.values(target).flatMap(targetsOf);
}

/**
 * The specifier by which a file of a member imports another file: the existing relative specifier, if the
 * file has such an import already.
 */
export function specifierInside(member: Member, from: string, to: string): string {
  const [a, b] = [insideOf(member, from), insideOf(member, to)];
  const relative = specifierOf({ ...member.imports, alias: undefined }, a, b);
  const text = member.sources.get(from) ?? "";
  return text.includes(`"${relative}"`) || text.includes(`'${relative}'`)
    ? relative
    : specifierOf(member.imports, a, b);
}

/** The specifier by which the sources of other packages import a name from a member already. */
function usedSpecifier(
  users: readonly Member[],
  { name: from }: Member,
  name: string,
): string | undefined {
  const escaped = from.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  const used = new RegExp(
    String.raw`import\s+(?!type\b)(?:[\w$]+\s*,\s*)?\{[^}]*\b${name}\b[^}]*\}\s*from\s*["'](${escaped}(?:\/[^"']*)?)["']`,
  );
  const texts = users.flatMap(({ sources }) => [...sources.values()]);
  return texts.flatMap((text) => (text.includes(from) ? (used.exec(text)?.[1] ?? []) : []))[0];
}
