/** Splits a page into its blocks of code, and the text between them. */

export interface Fence {
  /** The text before the marks of the block, such as the indentation within a list. */
  indent: string;
  /** The text after the marks: the language, and words about the block. */
  info: string;
  /** The code of the block, without the indentation. */
  lines: readonly string[];
  /** The block as it stands in the page, without the line break at its end. */
  raw: string;
}

/** Prose, or a block. All parts, joined by line breaks, are the page. */
export type Part = string | Fence;

/** A line that opens a block. After a mark of backticks, the line has no further backticks. */
const OPEN = /^( *)(`{3,}(?!.*`)|~{3,})(.*)$/;

/** A block that is not closed goes on to the end of the page, as on GitHub. */
export function partsOf(text: string): Part[] {
  const lines = text.split("\n");
  const parts: Part[] = [];
  let prose: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const [, indent, mark, info] = OPEN.exec(lines[i]!) ?? [];
    if (indent === undefined || mark === undefined || info === undefined) {
      prose.push(lines[i]!);
      continue;
    }
    if (prose.length > 0) parts.push(prose.join("\n"));
    prose = [];
    const start = i;
    const close = new RegExp(`^ *${mark[0]}{${mark.length},}\\s*$`);
    do i++;
    while (i < lines.length && !close.test(lines[i]!));
    const code = lines.slice(start + 1, i).map((line) => withoutIndent(line, indent));
    const raw = lines.slice(start, i + 1).join("\n");
    parts.push({ indent, info: info.trim(), lines: code, raw });
  }
  if (prose.length > 0) parts.push(prose.join("\n"));
  return parts;
}

function withoutIndent(line: string, indent: string): string {
  return line.startsWith(indent) ? line.slice(indent.length) : line.trimStart();
}

/** A block of Markdown around code. Its marks are longer than any marks within the code. */
export function fenceOf(indent: string, info: string, lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.map((line) => /^ *(`*)/.exec(line)![1]!.length));
  const mark = "`".repeat(longest + 1);
  return [mark + info, ...lines, mark].map((line) => (indent + line).trimEnd()).join("\n");
}
