/** The verdicts of the presets, in fifty seeded runs each, by the engine that the page uses. */
import { describe, expect, it } from "vitest";
import { CALLS, type Run } from "../../../../site/app/count/engine/run.js";
import { explain, isExact } from "../../../../site/app/count/explain.js";
import { type Preset, PRESETS } from "../../../../site/app/count/presets.js";
import { runHere } from "../../../../site/app/count/run-here.js";

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

async function runsOf(id: string): Promise<Run[]> {
  const { code } = PRESETS.find((each) => each.id === id)!;
  const runs: Run[] = [];
  for (const seed of SEEDS) runs.push(await runHere(code, seed));
  return runs;
}

/** The least and the most grants of fifty runs, and what the page says of each run. */
const EXPECTED: readonly [Preset["id"], least: number, most: number, RegExp][] = [
  [
    "read-compare-write",
    CALLS,
    CALLS,
    /^\d\d calls read the count before ten of them were written(?:, and \d+ more .* lost)?\.$/,
  ],
  ["incr-expire", 21, 33, /^\d\d calls read the count before ten of them were written\.$/],
  ["map", 20, 20, /^No call asked the table: .* let 10 and 10 calls pass\.$/],
  ["prisma", 22, 33, /^\d\d calls read the count before ten of them were written\.$/],
  ["postgresql", CALLS, CALLS, /^The table answered the eleventh call by “.*”, and the code took/],
  ["package", 10, 10, /^Ten calls were granted, and no eleventh\.$/],
];

describe("in fifty runs with different seeds", () => {
  it.each(EXPECTED)("%s grants %i to %i calls in each one", async (id, least, most, sentence) => {
    const runs = await runsOf(id);
    const granted = runs.map((run) => run.granted).toSorted((a, b) => a - b);
    expect([granted[0], granted.at(-1)]).toEqual([least, most]);
    for (const run of runs) {
      expect([run.stopped, run.failure, run.answers.length]).toEqual(["", "", CALLS]);
      expect(explain(run)).toMatch(sentence);
      expect(isExact(run)).toBe(id === "package");
      // The moment at which the eleventh got in.
      const grants = run.steps.filter(({ kind }) => kind === "granted");
      expect(run.steps[run.eleventh ?? -1]).toBe(grants[10]);
    }
  });
});

it("has a verdict for every preset", () => {
  expect(EXPECTED.map(([id]) => id)).toEqual(PRESETS.map(({ id }) => id));
});

it("gives the package the same ways as all others, so that only its statements differ", async () => {
  const of = async (id: string) => (await runsOf(id)).flatMap(({ steps }) => steps);
  const isAtTable = ({ kind }: { kind: string }) => ["read", "count", "write"].includes(kind);
  const [own, bucket] = await Promise.all([of("package"), of("postgresql")]);
  const times = (steps: Run["steps"]) => steps.filter(isAtTable).map(({ at }) => at);
  expect(times(own)).toEqual(times(bucket));
});
