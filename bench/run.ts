/**
 * Compares contenders scenario by scenario, side by side on the same server, and prints ratios: absolute
 * numbers belong to the machine. `--json FILE` also writes all results as JSON. `--svg FILE.svg` draws
 * the curves, and `FILE-narrow.svg` has the curves for phones. Further arguments choose scenarios: a
 * scenario is measured if its title contains one of the arguments.
 */
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { describeServers, isThere } from "./databases.js";
import { drawCurves } from "./draw-curves.js";
import { measure, type Row, type Timing } from "./measure.js";
import { type Measured, tablesOf } from "./print-tables.js";
import { type Scenario, scenarios } from "./scenarios.js";
import { median } from "./statistics.js";

const { values, positionals } = parseArgs({
  options: { json: { type: "string" }, svg: { type: "string" } },
  allowPositionals: true,
});
const timing: Timing = {
  rounds: Number(process.env["BENCH_ROUNDS"] ?? 5),
  slice: Number(process.env["BENCH_MS"] ?? 1000),
  warmUp: Number(process.env["BENCH_WARM_UP_MS"] ?? 2000),
};

const machine = `${await describeServers()}, Node ${process.version}, ${cpus().length} cores`;
const measured: { scenario: Scenario; rows: Row[] }[] = [];
for (const scenario of scenarios) {
  const wanted = positionals.some((word) => scenario.title.includes(word));
  if (positionals.length > 0 && !wanted) continue;
  if (!(await isThere(scenario.database))) {
    console.error(`left out, no server: ${scenario.title}`);
    continue;
  }
  console.error(`measuring ${scenario.title}`);
  measured.push({ scenario, rows: await measure(scenario, timing) });
  // Save after each scenario, because a whole run takes a quarter of an hour.
  await save();
}

/**
 * The median of the ratios of the rounds, because contenders take turns in each round. A ratio compares
 * calls per second, or p50 for contenders that alternate call by call.
 */
function ratioTo(row: Row, peer: Row, { alternating }: Scenario): number {
  return median(
    row.rounds.map((round, i) => {
      const theirs = peer.rounds[i]!;
      return alternating ? theirs.p50 / round.p50 : round.perSecond / theirs.perSecond;
    }),
  );
}

function withRatios(): Measured[] {
  return measured.map(({ scenario, rows }) => {
    const peer = rows.find(({ contender }) => contender === scenario.peer)!;
    const lines = rows.map((row) => ({ ...row, ratio: ratioTo(row, peer, scenario) }));
    return { peer: scenario.peer, lines };
  });
}

async function save(): Promise<void> {
  if (values.json !== undefined) {
    const content = JSON.stringify(
      { machine, timing, lines: withRatios().flatMap(({ lines }) => lines) },
      null,
      2,
    );
    await writeFile(values.json, content);
  }
  if (values.svg !== undefined) {
    const { wide, narrow } = drawCurves(measured);
    await writeFile(values.svg, wide);
    await writeFile(values.svg.replace(/\.svg$/, "-narrow.svg"), narrow);
  }
}

console.log(`\n${machine}; ${timing.rounds} rounds of ${timing.slice} ms\n`);
console.log(tablesOf(withRatios()));
