/** Whether what `init` adds can be imported: each file is there, and each package is listed. */
import { posix } from "node:path";
import { parse } from "jsonc-parser";

/** By path. */
export type Texts = Readonly<Record<string, string>>;

export interface Importing {
  file: string;
  code: string;
}

const FROM = /\bfrom\s+["']([^"']+)["']|^\s*import\s+["']([^"']+)["']/gm;

/**
 * @param texts the application.
 * @param more files that the author of the application has yet to make.
 * @returns a line for each import that leads nowhere.
 */
export function unresolvedImports(
  texts: Texts,
  importing: readonly Importing[],
  more: readonly string[] = [],
): string[] {
  const files = new Set([...Object.keys(texts), ...more]);
  return importing.flatMap(({ file, code }) =>
    [...code.matchAll(FROM)].flatMap(([, from, alone]) => {
      const specifier = (from ?? alone)!;
      const isFound = isResolved(texts, files, file, specifier);
      return isFound ? [] : [`${file} imports "${specifier}", which is not there`];
    }),
  );
}

function isResolved(texts: Texts, files: ReadonlySet<string>, from: string, specifier: string) {
  if (specifier.startsWith("node:")) return true;
  if (specifier.startsWith(".")) {
    return isFile(files, posix.join(posix.dirname(from), specifier));
  }
  const aliased = byAlias(texts, from, specifier);
  if (aliased !== undefined) return isFile(files, aliased);
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const own = nearest(texts, from, "package.json");
  if (own === undefined || !lists(texts[own]!, name)) return false;
  const member = Object.keys(texts).find(
    (file) => file.endsWith("package.json") && read(texts[file]!).name === name,
  );
  return (
    member === undefined || isExported(texts, files, member, `.${specifier.slice(name.length)}`)
  );
}

const ENDINGS = ["", ".ts", ".tsx", ".js", ".mjs", "/index.ts", "/index.tsx", "/index.js"];

function isFile(files: ReadonlySet<string>, path: string): boolean {
  const source = path.replace(/\.js$/, ".ts");
  return ENDINGS.some((ending) => files.has(path + ending)) || files.has(source);
}

/** The nearest file of this name above a file. */
function nearest(texts: Texts, from: string, name: string): string | undefined {
  for (let folder = posix.dirname(from); ; folder = posix.dirname(folder)) {
    const file = posix.join(folder, name);
    if (file in texts) return file;
    if (folder === ".") return undefined;
  }
}

function byAlias(texts: Texts, from: string, specifier: string): string | undefined {
  const file = nearest(texts, from, "tsconfig.json");
  const config = file === undefined ? undefined : (parse(texts[file]!) as TsConfig);
  for (const [alias, [target]] of Object.entries(config?.compilerOptions?.paths ?? {})) {
    const start = alias.replace(/\*$/, "");
    if (!specifier.startsWith(start)) continue;
    const path = target!.replace(/\*$/, "") + specifier.slice(start.length);
    return posix.join(posix.dirname(file!), path);
  }
  return undefined;
}

interface TsConfig {
  compilerOptions?: { paths?: Record<string, string[]> };
}

interface PackageJson {
  name?: string;
  exports?: Record<string, string>;
  dependencies?: object;
  devDependencies?: object;
  peerDependencies?: object;
}

const read = (text: string) => JSON.parse(text) as PackageJson;

function lists(text: string, name: string): boolean {
  const { dependencies, devDependencies, peerDependencies } = read(text);
  return name in { ...dependencies, ...devDependencies, ...peerDependencies };
}

/** Files of a build count as there. */
function isExported(texts: Texts, files: ReadonlySet<string>, member: string, path: string) {
  const folder = posix.dirname(member);
  const { exports } = read(texts[member]!);
  if (exports === undefined) return isFile(files, posix.join(folder, path));
  return Object.entries(exports).some(([key, target]) => {
    if (key === path) return target.includes("/dist/") || files.has(posix.join(folder, target));
    if (!key.endsWith("*") || !path.startsWith(key.slice(0, -1))) return false;
    return files.has(posix.join(folder, target.replace("*", path.slice(key.length - 1))));
  });
}
