/** Plans have `\n` at the ends of lines. When a file is written, each of its lines keeps its own end. */
import { diffArrays } from "diff";

/** The text with `\n` at the ends of lines, without a byte order mark. */
export function normalized(raw: string): string {
  return raw.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

/** The text `after`, with the byte order mark and the line ends of `raw`. */
export function likeOriginal(raw: string, after: string): string {
  const mark = raw.startsWith("\uFEFF") ? "\uFEFF" : "";
  const rawLines = linesOf(raw.slice(mark.length));
  const before = rawLines.map((line) => line.replace(/\r\n$/, "\n"));
  const ends = rawLines.map((line) => /\r?\n$/.exec(line)?.[0]);
  /** The end of the nearest line before line `i`, or of the first line that has an end. */
  const near = (i: number) =>
    ends.slice(0, i).findLast((end) => end !== undefined) ?? ends.find(Boolean) ?? "\n";
  let next = 0;
  /** The first of the lines that were removed just before: added lines take their ends. */
  let removed = 0;
  const written = diffArrays(before, linesOf(after)).flatMap(
    ({ added, removed: isRemoved, value }): string[] => {
      if (added) {
        const texts = value.map((line, i) => {
          const end = (removed + i < next ? ends[removed + i] : undefined) ?? near(next);
          return line.replace(/\n$/, end);
        });
        removed = next;
        return texts;
      }
      const start = next;
      next += value.length;
      removed = isRemoved ? start : next;
      return isRemoved ? [] : rawLines.slice(start, next);
    },
  );
  return mark + written.join("");
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
