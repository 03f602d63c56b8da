/** Prints the results in the form of the first table of docs/performance.md: a scenario per row. */
import type { Row } from "./measure.js";

/** A row, and its speed as a multiple of the peer's speed. */
export type Line = Row & { ratio: number };

export interface Measured {
  /** The name of the contender with which the other contenders are compared. */
  peer: string;
  lines: readonly Line[];
}

/**
 * @returns a table for each set of contenders, and a sentence for each row with failures or missing
 * grants.
 */
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

/** Two decimals below 2, one decimal below 10, and no decimals above. */
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
