/**
 * Edits of a file at places that are known by their text. Formatters change spaces, quotes, commas
 * and semicolons, so these may differ. If one place is not found exactly once, nothing is edited. A
 * place in a comment or in a text does not count.
 */

import { matchesInCode } from "./code.js";

export interface Edit {
  /** The text as it was scaffolded. */
  find: string;
  /** @param indent of the line in which `found` starts. */
  replace(found: string, indent: string): string;
}

/** The edited text, or `undefined` if the file is not as it was scaffolded. */
export function applyEdits(text: string, edits: readonly Edit[]): string | undefined {
  let result = text;
  for (const { find, replace } of edits) {
    const matches = matchesInCode(result, new RegExp(patternOf(find), "g"));
    if (matches.length !== 1) return undefined;
    const [{ 0: found, index }] = matches as [RegExpExecArray];
    const indent = /[ \t]*$/.exec(result.slice(0, index))![0];
    result = result.slice(0, index) + replace(found, indent) + result.slice(index + found.length);
  }
  return result;
}

const TOKENS = /[\w$]+|"[^"]*"|\S/g;
const isWord = (token: string | undefined) => token !== undefined && /^[\w$]/.test(token);
const isCloser = (token: string | undefined) => token !== undefined && /^[)\]}]$/.test(token);

/**
 * Between two tokens there is one class of characters, so that each text can be matched in one way
 * only. With two of them, a place that differs at its end takes exponential time.
 */
function patternOf(text: string): string {
  const tokens = text
    .match(TOKENS)!
    .filter((token, i, all) => token !== ";" && !(token === "," && isCloser(all[i + 1])));
  const parts = tokens.map((token, i) => {
    const string = /^"(.*)"$/.exec(token);
    const one = string ? `(?:"${escaped(string[1]!)}"|'${escaped(string[1]!)}')` : escaped(token);
    return one + gap(token, tokens[i + 1]);
  });
  return parts.join("") + (text.trimEnd().endsWith(";") ? "(?:;|(?=\\n))" : "");
}

function gap(token: string, next: string | undefined): string {
  if (next === undefined) return "";
  if (isWord(token) && isWord(next)) return "\\s+";
  return isCloser(next) ? "[\\s;,]*" : "[\\s;]*";
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** The same lines, further to the right. */
export function indented(text: string, by: string): string {
  return text.replace(/^(?=.)/gm, by);
}

/** What one level of indentation is in a file. */
export function indentUnit(text: string): string {
  return /^(\t| {2,4})(?=[^\s*])/m.exec(text)?.[1] ?? "  ";
}
