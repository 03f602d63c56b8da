/** The table of all pairs, as the documentation has it. */
import { FEATURES, isLeased, isRefused, mayBeOld, type Pair } from "./features.js";

export function tableOfPairs(): string {
  const rows = FEATURES.map((feature, i) => [
    `${i + 1} ${feature}`,
    ...FEATURES.map((other, j) => {
      if (i === j) return "";
      return markOf(i < j ? [feature, other] : [other, feature]);
    }),
  ]);
  return linesOf(["", ...FEATURES.map((_, i) => String(i + 1))], rows).join("\n");
}

function markOf(pair: Pair): string {
  if (isRefused(pair)) return "–";
  return isLeased(pair) || mayBeOld(pair) ? "≤" : "=";
}

function linesOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [header, header.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

/** The cells of all tables in a text, whatever their widths. */
export function cellsOf(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  return lines.map((line) => line.split("|").map((cell) => cell.trim().replace(/^-+$/, "-")));
}
