/** Prints what was measured as the first table of docs/performance.md has it: a scenario per row. */
import type { Row } from "./measure.js";

/** A row, and how many times as fast as the peer it is. */
export type Line = Row & { ratio: number };

export interface Measured {
  /** The name of the contender that the others are compared with. */
  peer: string;
  lines: readonly Line[];
}

/** @returns a table for each set of contenders, and a sentence for each row that was not as it should be. */
export function tablesOf(measured: readonly Measured[]): string {
  const sets = new Map<string, Measured[]>();
  for (const one of measured) {
    const contenders = one.lines.map(({ contender }) => contender).join();
    sets.set(contenders, [...(sets.get(contenders) ?? []), one]);
  }
  return [
    ...[...sets.values()].map(tableOf),
    ...measured.flatMap(({ lines }) => lines.flatMap(remarksOn)),
  ].join("\n\n");
}

function tableOf(rows: readonly Measured[]): string {
  const { lines, peer } = rows[0]!;
  const names = lines.map(({ contender }) => contender);
  const [first = "", ...others] = names;
  const head = [`calls/s: ${first}`, ...others, `p50/p99 ms: ${first}`, ...others];
  const body = rows.map(({ lines: [...cells] }) => [
    cells[0]!.scenario,
    ...cells.map((line) => {
      const calls = Math.round(line.perSecond).toLocaleString("en");
      return line.contender === peer ? calls : `${calls} (${timesOf(line.ratio)})`;
    }),
    ...cells.map(({ p50, p99 }) => `${p50.toFixed(2)}/${p99.toFixed(2)}`),
  ]);
  return [["scenario", ...head], ["---", ...head.map(() => "--:")], ...body]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** Two digits where the ratio is near 1, one up to 10, and none above. */
function timesOf(ratio: number): string {
  return `${ratio.toFixed(ratio < 2 ? 2 : ratio < 10 ? 1 : 0)}×`;
}

function remarksOn({ scenario, contender, failed, unaccounted, fairness }: Line): string[] {
  const remarks = [
    ...(failed > 0 ? [`${failed} calls failed`] : []),
    ...(unaccounted ? [`${unaccounted} grants are not in the rows`] : []),
    ...(fairness === undefined ? [] : [`least : most ${fairness.toFixed(2)}`]),
  ];
  return remarks.length === 0 ? [] : [`${scenario}, ${contender}: ${remarks.join(", ")}`];
}
