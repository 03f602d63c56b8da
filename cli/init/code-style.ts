/** Quotes and semicolons of a file, for the code that is added to it. */

export interface CodeStyle {
  quote: '"' | "'";
  semicolons: boolean;
}

/** As its imports have them. */
export function codeStyleOf(text: string): CodeStyle {
  const ends = text.match(/(?:\bfrom\s*|^import\s*)["'][^"'\n]*["'];?/gm) ?? [];
  const most = (isSo: (line: string) => boolean) =>
    ends.length > 0 && ends.filter(isSo).length * 2 > ends.length;
  return {
    quote: most((line) => line.includes("'")) ? "'" : '"',
    semicolons: !most((line) => !line.endsWith(";")),
  };
}

/** Code of this command's own, which has double quotes and semicolons, in a style. */
export function inStyle(code: string, { quote, semicolons }: CodeStyle): string {
  return code
    .split("\n")
    .map((line) => {
      if (/^\s*(\/\/|\/?\*)/.test(line)) return line;
      const quoted = quote === '"' ? line : line.replace(/"([^"'\\]*)"/g, "'$1'");
      return semicolons ? quoted : quoted.replace(/;$/, "");
    })
    .join("\n");
}
