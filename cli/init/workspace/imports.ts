/** Adds names to the imports of a file. */
import { codeStyleOf, inStyle } from "../code-style.js";
import { codeOf, matchesInCode } from "../code.js";
import { importText } from "../import-text.js";

const ANY = /^import\b[^"';]*(?:["'][^"'\n]+["']);?[^\n]*\n/gm;

/**
 * The file with `names` imported from `from`: in an import of it that there is, or else after those
 * of packages, and those of the own package after all.
 */
export function withImport(text: string, from: string, names: readonly string[]): string {
  const own = new RegExp(String.raw`^import\s*\{([^}]*)\}\s*from\s*(["'])${escaped(from)}\2`, "gm");
  const [found] = matchesInCode(text, own);
  const present = found === undefined ? [] : listed(found[1]!);
  const missing = names.filter((name) => !present.includes(name));
  if (missing.length === 0) return text;
  if (found !== undefined && !/\/[/*]/.test(found[1]!)) {
    const line = inStyle(importText(from, [...present, ...missing]), codeStyleOf(text));
    return (
      text.slice(0, found.index) +
      line.replace(/;$/, "") +
      text.slice(found.index + found[0].length)
    );
  }
  const line = `${inStyle(importText(from, missing), codeStyleOf(text))}\n`;
  const imports = matchesInCode(text, ANY);
  const isRelative = /^[.~@]\/|^\.\.?\//.test(from);
  const ofPackages = imports.filter(([statement]) => !/["'](?:\.|~\/|@\/)/.test(statement));
  const last = (isRelative ? undefined : ofPackages.at(-1)) ?? imports.at(-1);
  if (last === undefined) {
    const start = directiveEnd(text);
    return `${text.slice(0, start)}${line}\n${text.slice(start).replace(/^\n+/, "")}`;
  }
  const end = last.index + last[0].length;
  const isFirstRelative = isRelative && ofPackages.length === imports.length;
  return text.slice(0, end) + (isFirstRelative ? "\n" : "") + line + text.slice(end);
}

/** After `"use client"` and the comments before it. */
function directiveEnd(text: string): number {
  return /^\s*["']use \w+["'];?[ \t]*\n+/.exec(text)?.[0].length ?? 0;
}

export function importsFrom(text: string, name: string): string | undefined {
  const pattern = new RegExp(
    String.raw`^import\s*(?:type\s*)?\{[^}]*\b${name}\b[^}]*\}\s*from\s*["']([^"'\n]+)["']`,
    "gm",
  );
  return matchesInCode(text, pattern)[0]?.[1];
}

const listed = (list: string) =>
  codeOf(list)
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
