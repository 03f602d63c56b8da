/** Adds the package to the dependencies in package.json, without touching the rest of the text. */
import type { Change } from "./plan.js";

const NAME = "trpc-rate-limit";

/** The change, or `undefined` if package.json has no list of dependencies that can be extended. */
export function addDependency(before: string, version: string): Change | undefined {
  const found = /"dependencies"\s*:\s*\{([^{}]*)\}/.exec(before);
  const lines = found?.[1]!.match(/^[ \t]*"[^"]+"\s*:\s*"[^"]*"/gm);
  if (found === null || !lines || lines.length === 0) return undefined;
  const [indent] = /^[ \t]*/.exec(lines[0])!;
  const entry = `${indent}"${NAME}": "^${version}"`;
  const nameOf = (line: string) => /"([^"]+)"/.exec(line)![1]!;
  const later = lines.findIndex((line) => nameOf(line) > NAME);
  const all = lines.toSpliced(later === -1 ? lines.length : later, 0, entry);
  const start = found.index + found[0].indexOf("{") + 1;
  const tail = /\s*$/.exec(found[1]!)![0];
  const after =
    before.slice(0, start) + `\n${all.join(",\n")}${tail}` + before.slice(start + found[1]!.length);
  return { file: "package.json", before, after };
}
