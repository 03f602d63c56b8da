/** Plans are made with `\n` at the ends of lines. A file keeps the end that each of its lines has. */
import { diffArrays } from "diff";

/** The text with `\n` at the ends of lines, without a byte order mark. */
export function normalized(raw: string): string {
  return raw.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

/** `after` as it is to be written in place of `raw`: with its mark, and the ends of its lines. */
export function likeOriginal(raw: string, after: string): string {
  const mark = raw.startsWith("\uFEFF") ? "\uFEFF" : "";
  const rawLines = linesOf(raw.slice(mark.length));
  const before = rawLines.map((line) => line.replace(/\r\n$/, "\n"));
  const ends = rawLines.map((line) => /\r?\n$/.exec(line)?.[0]);
  /** Of the line before, or of the first one that has an end. */
  const near = (i: number) =>
    ends.slice(0, i).findLast((end) => end !== undefined) ?? ends.find(Boolean) ?? "\n";
  let next = 0;
  /** The first line of those that were removed just before, and that lines are written in place of. */
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
