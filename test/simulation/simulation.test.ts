/** Simulations with fixed seeds, and tests that they find defects. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { byNight } from "../support/nightly.js";
import { explore, seedsFrom } from "./explore.js";
import { FAULTS } from "./faults.js";
import { find, plant, PLANTED } from "./planted.js";
import { loadShipped } from "./shipped.js";
import { simulate } from "./simulate.js";

/** For more seeds, and new ones: `npm run simulate -- --minutes 5`. */
const SEEDS = 200;

describe("the package as it is shipped", async () => {
  const start = await loadShipped();

  it(
    `passes ${SEEDS} simulations, in which every fault happens`,
    { timeout: 300_000 },
    async () => {
      let left = SEEDS;
      const { failures, faults } = await explore(start, {
        seeds: seedsFrom(1, 1),
        shouldContinue: () => --left > 0,
        shrinks: false,
        cut: { duration: 800, without: ["crowd"] },
      });
      expect(failures).toEqual([]);
      expect(FAULTS.filter((fault) => !faults.counts.has(fault))).toEqual([]);
    },
  );

  it("does the same again with the same seed", async () => {
    const once = async () => {
      const { events, calls, faults } = await simulate(start, 7, { duration: 3000 });
      return { events, calls: [...calls.counts], faults: [...faults.counts] };
    };
    expect(await once()).toEqual(await once());
  });

  it("takes no time, no timer and no random number but those it is given", async () => {
    const takesTime = await loadShipped((path, code) =>
      path.endsWith("/limiter/create-rate-limiter.ts")
        ? `const bootedAt = process.hrtime();\n${code}`
        : code,
    );
    await expect(simulate(takesTime, 1, { duration: 100 })).rejects.toThrow("hrtime");
  });
});

/** The defects that are found within a few seeds. `npm run simulate -- --planted` looks for all defects. */
const QUICK = new Set([
  "a result forgets what was given back of it",
  "a group is written if one of its rows is as it was",
  "decisions of one batch do not see each other's writes",
  "an id is charged twice",
  "a debt is read as use",
  "idle time is refilled twice",
  "a closing scales with the rate",
  "a call by a smaller plan forgets what a larger one has used",
  "a smaller plan that settles what it held frees what a larger one has used",
  "a draft forgets to note what it has read",
  "a slot is free before its holder gives it up",
  "what a block has left when it lapses goes back into the row",
  "a page takes its own clock for the server's",
  "streams hear of no change by another process",
  "a hold is released twice",
  "holds are reclaimed before they lapse",
  "a settle after a release gives back again",
  "a call takes its tokens before it notes the level that it crosses",
  "a level is crossed again after tokens came back",
  "a statement takes past a level",
  "a warning is deleted before its listener has resolved",
]);

const SOURCES = ["core", "server", "client"].flatMap((folder) => {
  const path = fileURLToPath(new URL(`../../${folder}`, import.meta.url));
  const files = readdirSync(path, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".ts")).map((file) => join(path, file));
});

it.each(PLANTED)("there is a place for the defect that $defect", (planted) => {
  const edit = plant(planted);
  const edited = SOURCES.filter((path) => {
    const code = readFileSync(path, "utf8");
    return edit(path, code) !== code;
  });
  const files = new Set([planted, ...(planted.also ?? [])].map(({ file }) => file));
  expect(edited).toHaveLength(files.size);
});

it.each(
  byNight(
    PLANTED.filter(({ defect }) => QUICK.has(defect)),
    7,
  ),
)(
  "a simulation finds out that $defect",
  async (planted) => {
    expect(await find(planted, 60)).toMatchObject({ seed: expect.any(Number) as number });
  },
  90_000,
);
