/**
 * Compares contenders scenario by scenario, side by side on the same server, and prints ratios:
 * absolute numbers belong to the machine. `--json FILE` also writes all of it as JSON; further
 * words choose the scenarios whose titles contain one of them.
 */
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { describeServer } from "./database.js";
import { measure, type Row, type Timing } from "./measure.js";
import {
  BARE,
  BARE_UPDATE,
  hot,
  lone,
  many,
  OURS,
  PEER,
  type Scenario,
  scenarios,
  shared,
} from "./scenarios.js";
import { median } from "./statistics.js";

const { values, positionals } = parseArgs({
  options: { json: { type: "string" } },
  allowPositionals: true,
});
const timing: Timing = {
  rounds: Number(process.env["BENCH_ROUNDS"] ?? 5),
  slice: Number(process.env["BENCH_MS"] ?? 1000),
  warmUp: Number(process.env["BENCH_WARM_UP_MS"] ?? 3000),
};

const rows: Row[] = [];
for (const scenario of scenarios) {
  const wanted = positionals.some((word) => scenario.title.includes(word));
  if (positionals.length > 0 && !wanted) continue;
  console.error(`measuring ${scenario.title}`);
  rows.push(...(await measure(scenario, timing)));
}

/** One number per round, of two contenders that took turns in it. */
interface Ratio {
  of: string;
  median: number;
  rounds: number[];
}

function compare(
  { title }: Scenario,
  [upper, lower]: readonly [string, string],
  figure: "perSecond" | "p50",
  of: string,
): Ratio[] {
  const roundsOf = (contender: string) =>
    rows.find((row) => row.scenario === title && row.contender === contender)?.rounds;
  const [a, b] = [roundsOf(upper), roundsOf(lower)];
  if (a === undefined || b === undefined) return [];
  const ratios = a.map((round, i) => round[figure] / b[i]![figure]);
  return [{ of, median: median(ratios), rounds: ratios }];
}

const ratios = [hot, many, shared].flatMap((scenario) =>
  compare(scenario, [OURS, PEER], "perSecond", `${scenario.title}: calls/s, times ${PEER}`),
);
for (const bare of [BARE, BARE_UPDATE]) {
  ratios.push(...compare(lone, [OURS, bare], "p50", `${lone.title}: p50, times ${bare}`));
}

const machine = `${await describeServer()}, Node ${process.version}, ${cpus().length} cores`;
console.log(`\n${machine}; ${timing.rounds} rounds of ${timing.slice} ms\n`);
console.log("| scenario | contender | calls/s | p50 ms | p99 ms | failed | unaccounted |");
console.log("| --- | --- | --: | --: | --: | --: | --: |");
for (const row of rows) {
  const cells = [
    row.scenario,
    row.contender,
    Math.round(row.perSecond).toLocaleString("en"),
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    row.failed,
    row.unaccounted ?? "–",
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
console.log("");
for (const { of, median: middle, rounds } of ratios) {
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)];
  console.log(`${middle.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})  ${of}`);
}

if (values.json !== undefined) {
  await writeFile(values.json, JSON.stringify({ machine, timing, ratios, rows }, null, 2));
}
