/** Adds names to the imports of a file. */
import type { ImportDeclaration, ImportSpecifier } from "@babel/types";
import type { Code } from "./code.js";
import { endOf, nameOf, startOf } from "./syntax.js";

/** The longest line that formatters leave as it is. */
export const WIDTH = 80;

/** An import, with two spaces per level, as prettier formats it. */
export function importText(from: string, names: readonly string[]): string {
  const line = `import { ${names.join(", ")} } from "${from}";`;
  if (line.length <= WIDTH) return line;
  return `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "${from}";`;
}

export function importsOf({ program }: Code): ImportDeclaration[] {
  return program.body.filter((each) => each.type === "ImportDeclaration");
}

/** The module from which a file imports a name. */
export function importedFrom(code: Code, name: string): string | undefined {
  return importsOf(code).find(({ specifiers }) =>
    specifiers.some((each) => each.local.name === name),
  )?.source.value;
}

/**
 * Writes the imports that the edits of a file need, after the edits. Names go into an existing import of
 * the module. Otherwise, a new line goes among the imports of packages, or of the application's own
 * files.
 */
export function writeImports(code: Code): void {
  for (const [from, names] of code.wanted) writeImport(code, from, names);
  code.wanted.clear();
}

function writeImport(code: Code, from: string, names: readonly string[]): void {
  const same = importsOf(code).filter(({ source }) => source.value === from);
  const present = new Set(
    same.flatMap(({ specifiers }) => specifiers.map((each) => each.local.name)),
  );
  const missing = names.filter((name) => !present.has(name.replace(/^type /, "")));
  if (missing.length === 0) return;
  const own = same.find(
    ({ importKind, specifiers }) =>
      importKind !== "type" &&
      specifiers.length > 0 &&
      specifiers.every((each) => each.type === "ImportSpecifier"),
  );
  if (own === undefined || hasComments(code, own)) addLine(code, from, missing, own);
  else addNames(code, own, missing);
}

function hasComments(code: Code, statement: ImportDeclaration): boolean {
  return /\/[/*]/.test(code.textOf(statement).replace(/(["']).*?\1/g, ""));
}

function addNames(code: Code, own: ImportDeclaration, missing: readonly string[]): void {
  const specifiers = own.specifiers as ImportSpecifier[];
  const texts = specifiers.map((each) => code.textOf(each));
  const all = isSorted(texts) ? [...texts, ...missing].toSorted(byName) : [...texts, ...missing];
  const [start, end] = [startOf(specifiers[0]!), endOf(specifiers.at(-1)!)];
  const text = code.textOf(own);
  const isOneLine = !text.includes("\n");
  const length = text.length - (end - start) + all.join(", ").length;
  if (isOneLine && length <= WIDTH) return code.replace(start, end, all.join(", "));
  const open = code.text.lastIndexOf("{", start);
  const close = code.text.indexOf("}", end);
  const indent = isOneLine ? code.unit : code.indentAt(start);
  code.replace(open + 1, close, `\n${all.map((name) => `${indent}${name},\n`).join("")}`);
}

function addLine(
  code: Code,
  from: string,
  names: readonly string[],
  own: ImportDeclaration | undefined,
): void {
  const line = importText(from, names.toSorted(byName));
  if (own !== undefined) code.insert(startOf(own), `${code.styled(line)}\n`);
  else insertLine(code, from, line);
}

const isOwn = (from: string) => /^(\.|~\/|@\/|#)/.test(from);

function insertLine(code: Code, from: string, text: string): void {
  const line = code.styled(text);
  const imports = importsOf(code);
  const kin = imports.filter(({ source }) => isOwn(source.value) === isOwn(from));
  const before = placeAmong(kin, from, imports);
  if (before !== undefined) return code.insert(startOf(before), `${line}\n`);
  const last = isOwn(from) || kin.length > 0 ? (kin.at(-1) ?? imports.at(-1)) : undefined;
  if (last !== undefined) {
    const gap = kin.length === 0 ? "\n" : "";
    return code.insert(code.lineEnd(endOf(last)), `\n${gap}${line}`);
  }
  const [first] = imports;
  if (first !== undefined) return code.insert(startOf(first), `${line}\n\n`);
  const start = headEnd(code);
  const gap = code.text.slice(start).startsWith("\n") || start === code.text.length ? "" : "\n";
  code.insert(start, `${line}\n${gap}`);
}

/**
 * The first import that comes later in the alphabet, if the imports are sorted. The new line can be
 * inserted before it.
 */
function placeAmong(
  kin: readonly ImportDeclaration[],
  from: string,
  all: readonly ImportDeclaration[],
): ImportDeclaration | undefined {
  const sources = kin.map(({ source }) => source.value);
  if (!isSorted(sources)) return undefined;
  const later = kin.find(({ source }) => byName(from, source.value) < 0);
  // Comments before an import belong to the import, except at the start of the file.
  if (later === undefined || (later.leadingComments && later !== all[0])) return undefined;
  return later;
}

/** The position after `"use client"` and other directives. */
function headEnd({ program, text }: Code): number {
  const last = program.directives.at(-1) ?? program.interpreter;
  if (!last) return 0;
  const rest = text.slice(endOf(last));
  return endOf(last) + /^;?[^\n]*\n*/.exec(rest)![0].length;
}

const keyOf = (name: string) => name.replace(/^type /, "").toLowerCase();
export const byName = (a: string, b: string): number =>
  keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0;
const isSorted = (names: readonly string[]) =>
  names.every((name, i) => i === 0 || byName(names[i - 1]!, name) <= 0);

/** The names that a file imports from a package, with their local names. */
export function localNames(code: Code, from: RegExp): Map<string, string> {
  return new Map(
    importsOf(code)
      .filter(({ source }) => from.test(source.value))
      .flatMap(({ specifiers }) =>
        specifiers.flatMap((each): [string, string][] =>
          each.type === "ImportSpecifier" ? [[nameOf(each.imported)!, each.local.name]] : [],
        ),
      ),
  );
}
