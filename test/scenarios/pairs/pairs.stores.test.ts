/** The pairs of `pairs.test.ts` on databases: one program for some pairs, and in CI for all pairs. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { cases } from "../../support/cases.js";
import { stores } from "../../support/stores.js";
import { anyProgram } from "./any-program.js";
import { nameOf, USED } from "./features.js";
import { runProgram } from "./run-program.js";

const databases = stores.filter(([name]) => name !== "memory");
const step = Math.ceil(USED.length / cases(USED.length));
const sample = USED.filter((_, i) => i % step === 0);

describe.each(databases)("two features of a limit on %s", (_, open) => {
  it("answer as the model says", async () => {
    await using opened = await open();
    for (const pair of sample) {
      const run = fc.asyncProperty(anyProgram(pair), async (program) => {
        await runProgram(pair, program, opened.store);
      });
      await fc.assert(run, { numRuns: 1 }).catch((cause: unknown) => {
        throw new Error(nameOf(pair), { cause });
      });
    }
  }, 120_000);
});
