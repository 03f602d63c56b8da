/**
 * Tells the code of a TypeScript or JavaScript file from its comments and texts. It knows no grammar:
 * where it guesses wrong, a place is not found, and the file is left to its author.
 */

/** After these, a slash begins a regular expression and is no division. */
const BEFORE_REGEX =
  /(?:^|[=(,:;!&|?{}[+\-*%~^]|=>|\b(?:return|typeof|case|in|of|do|else|void))\s*$/;

const BLANKS = {
  "//": /\/\/[^\n]*/y,
  "/*": /\/\*[\s\S]*?(?:\*\/|$)/y,
  '"': /"(?:[^"\\\n]|\\[\s\S])*(?:"|$|(?=\n))/y,
  "'": /'(?:[^'\\\n]|\\[\s\S])*(?:'|$|(?=\n))/y,
  regex: /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y,
} as const;

/** The same text, with spaces in place of comments and of what texts contain. Lines stay lines. */
export function codeOf(text: string): string {
  let code = "";
  /** For each template that is open: how many braces are open in its expression. */
  const templates: number[] = [];
  const skip = (length: number) => {
    code += text.slice(code.length, code.length + length).replace(/[^\n]/g, " ");
  };
  const skipTemplate = () => {
    const [rest] = /^(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/.exec(text.slice(code.length))!;
    skip(rest.length);
    if (text.startsWith("${", code.length)) {
      skip(2);
      templates.push(0);
    } else skip(1);
  };
  while (code.length < text.length) {
    const at = code.length;
    const character = text[at]!;
    const two = text.slice(at, at + 2);
    const kind = two === "//" || two === "/*" ? two : character === "/" ? "regex" : character;
    const pattern = kind in BLANKS ? BLANKS[kind as keyof typeof BLANKS] : undefined;
    if (pattern && (kind !== "regex" || BEFORE_REGEX.test(code.slice(-20)))) {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found !== null) {
        skip(found[0].length);
        continue;
      }
    }
    if (character === "`") {
      skip(1);
      skipTemplate();
      continue;
    }
    const open = templates.at(-1);
    if (open !== undefined && character === "}" && open === 0) {
      templates.pop();
      skip(1);
      skipTemplate();
      continue;
    }
    if (open !== undefined && (character === "{" || character === "}")) {
      templates[templates.length - 1] = open + (character === "{" ? 1 : -1);
    }
    code += character;
  }
  return code;
}

/** The matches that begin in code. */
export function matchesInCode(text: string, pattern: RegExp): RegExpExecArray[] {
  const code = codeOf(text);
  const flags = pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`;
  return [...text.matchAll(new RegExp(pattern, flags))].filter(
    ({ index, 0: found }) => code[index + /^\s*/.exec(found)![0].length] !== " ",
  );
}

/** Whether a name occurs in code by itself: not as a property of something. */
export function usesName(text: string, name: string): boolean {
  return new RegExp(`(?<![.\\w$])${name}(?![\\w$])(?!\\s*:(?!:))`).test(codeOf(text));
}

/** The text at the end of a file, after a blank line. */
export function appended(before: string, text: string): string {
  if (before === "") return text;
  const gap = before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  return before + gap + text;
}
