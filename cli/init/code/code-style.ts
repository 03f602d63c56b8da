/** Quotes, semicolons and indentation of a file, for the code that is added to it. */

export interface CodeStyle {
  quote: '"' | "'";
  semicolons: boolean;
}

/** The quotes and semicolons of a file, as most of its imports have them. */
export function codeStyleOf(text: string): CodeStyle {
  const ends = text.match(/(?:\bfrom\s*|^import\s*)["'][^"'\n]*["'];?/gm) ?? [];
  const most = (isSo: (line: string) => boolean) =>
    ends.length > 0 && ends.filter(isSo).length * 2 > ends.length;
  return {
    quote: most((line) => line.includes("'")) ? "'" : '"',
    semicolons: !most((line) => !line.endsWith(";")),
  };
}

/** One level of indentation in a file. */
export function indentUnit(text: string): string {
  return /^(\t| {2,4})(?=[^\s*])/m.exec(text)?.[1] ?? "  ";
}

/** Turns code of this command, which has two spaces, double quotes and semicolons, into a style. */
export function inStyle(code: string, { quote, semicolons }: CodeStyle, unit = "  "): string {
  return code
    .split("\n")
    .map((line) => {
      const [spaces] = /^(?: {2})*/.exec(line)!;
      const rest = line.slice(spaces.length);
      const start = unit.repeat(spaces.length / 2);
      if (/^(\/\/|\/?\*| \*)/.test(rest)) return start + rest;
      const quoted = quote === '"' ? rest : rest.replace(/"([^"'\\]*)"/g, "'$1'");
      return start + (semicolons ? quoted : quoted.replace(/;$/, ""));
    })
    .join("\n");
}
