/** Whether files have changed by exactly the lines of the diffs that `init` has printed. */
import { parsePatch } from "diff";

/** By path. The bytes are read as latin1. */
type Files = Readonly<Record<string, string>>;

/**
 * @param printed each text that `init` has printed.
 * @returns a line for each file that differs from what was shown; empty if no file does.
 */
export function differences(before: Files, after: Files, printed: readonly string[]): string[] {
  const diffs = new Map(
    printed
      .filter((text) => text.startsWith("--- "))
      .map((text) => [/^\+\+\+ b\/(.*)$/m.exec(text)![1]!, text]),
  );
  const files = new Set([...Object.keys(before), ...Object.keys(after), ...diffs.keys()]);
  return [...files].flatMap((file) => {
    const problem = compare(before[file], after[file], diffs.get(file));
    return problem === undefined ? [] : `${file}: ${problem}`;
  });
}

function compare(
  before: string | undefined,
  after: string | undefined,
  diff: string | undefined,
): string | undefined {
  if (diff === undefined) return before === after ? undefined : "changed, and no diff was printed";
  if (after === undefined) return "has a diff, and is not there";
  const mark = /^(?:\u00EF\u00BB\u00BF)?/.exec(before ?? "")![0];
  if (!after.startsWith(mark)) return "lost its byte order mark";
  const [from, to] = [
    linesOf((before ?? "").slice(mark.length)),
    linesOf(after.slice(mark.length)),
  ];
  let [i, j] = [0, 0];
  for (const { oldStart, hunks } of parsePatch(diff).flatMap(({ hunks: all }) =>
    all.map((hunk) => ({ oldStart: hunk.oldStart, hunks: hunk.lines })),
  )) {
    while (i < oldStart - 1) {
      if (from[i++] !== to[j++]) return `line ${i} changed outside of the diff`;
    }
    for (const line of hunks) {
      const shown = Buffer.from(line.slice(1)).toString("latin1");
      if (line.startsWith("-")) {
        if (bare(from[i++]) !== shown) return `the diff removes line ${i}, which is another one`;
      } else if (line.startsWith("+")) {
        if (bare(to[j++]) !== shown) return `the diff adds line ${j}, which is another one`;
      } else if (line.startsWith(" ") && from[i++] !== to[j++]) {
        return `line ${i} changed, and the diff shows it as it was`;
      }
    }
  }
  while (i < from.length || j < to.length) {
    if (from[i++] !== to[j++]) return `line ${i} changed after the diff`;
  }
  return undefined;
}

const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
const bare = (line: string | undefined) => line?.replace(/\r?\n$/, "");
