/** Places in code, found by their brackets. A place that is not there once is none. */
import { codeOf, matchesInCode } from "../code.js";

/** From its first character to after its last one. */
export interface Span {
  start: number;
  end: number;
}

/** The call, the list or the object that a match of `pattern` ends with the opening bracket of. */
export function bracketed(text: string, pattern: RegExp): (Span & { open: number }) | undefined {
  const matches = matchesInCode(text, pattern);
  const [match] = matches;
  if (match === undefined || matches.length > 1) return undefined;
  const open = match.index + match[0].length - 1;
  const end = closing(codeOf(text), open);
  return end === undefined ? undefined : { start: match.index, open, end };
}

/** After the bracket that closes the one at `open`. */
export function closing(code: string, open: number): number | undefined {
  let depth = 0;
  for (let i = open; i < code.length; i++) {
    if ("([{".includes(code[i]!)) depth++;
    else if (")]}".includes(code[i]!) && --depth === 0) return i + 1;
  }
  return undefined;
}

/** The properties of an object whose brace is at `open`, by name, with their whole texts. */
export function propertiesOf(text: string, open: number): Map<string, string> {
  const code = codeOf(text);
  const end = closing(code, open) ?? code.length;
  const properties = new Map<string, string>();
  let start = open + 1;
  let depth = 0;
  for (let i = open + 1; i < end; i++) {
    const isLast = i === end - 1;
    if (!isLast && "([{".includes(code[i]!)) depth++;
    else if (!isLast && ")]}".includes(code[i]!)) depth--;
    else if (isLast || (code[i] === "," && depth === 0)) {
      const property = text.slice(start, i).trim();
      const name = /^(?:async\s+)?(\w+)/.exec(codeOf(property).trim())?.[1];
      if (name !== undefined) properties.set(name, property);
      start = i + 1;
    }
  }
  return properties;
}

/** The indentation of the line that has a position. */
export function indentAt(text: string, position: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", position - 1) + 1))![0];
}

export function replaced(text: string, { start, end }: Span, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}
