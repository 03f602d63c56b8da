/** The table of the pairs that are refused or stricter, as the documentation has it. */
import { FEATURES, isLeased, isRefused, mayBeOld, PAIRS, type Pair } from "./features.js";

/** Each pair stands once, in the row of its first feature. */
export function tableOfPairs(): string {
  const rows = FEATURES.map((feature) => {
    const pairs = PAIRS.filter(([first]) => first === feature);
    const stricter = pairs.filter(isStricter);
    const isEach =
      stricter.length > 0 && pairs.every((pair) => isRefused(pair) || isStricter(pair));
    const all = isEach ? "all others" : secondsOf(stricter);
    return [feature, secondsOf(pairs.filter(isRefused)), all];
  });
  const named = rows.filter(([, refused, stricter]) => refused !== "" || stricter !== "");
  return linesOf(["feature", "refused with", "stricter with"], named).join("\n");
}

const isStricter = (pair: Pair) => !isRefused(pair) && (isLeased(pair) || mayBeOld(pair));

const secondsOf = (pairs: readonly Pair[]) => pairs.map(([, second]) => second).join(", ");

function linesOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [header, header.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

/** The cells of all tables in a text, whatever their widths. */
export function cellsOf(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  return lines.map((line) => line.split("|").map((cell) => cell.trim().replace(/^-+$/, "-")));
}
