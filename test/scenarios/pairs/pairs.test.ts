/**
 * Features of limits, two at a time. A pair is refused with a reason, or random programs use it and their
 * answers are compared with a model. `docs/guarantees.md` has the table.
 */
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../core/durations.js";
import { memoryStore } from "../../../server/index.js";
import { anyProgram } from "./any-program.js";
import { isRefused, nameOf, type Pair, PAIRS, REFUSED, USED } from "./features.js";
import { KEY } from "./model.js";
import { openPair } from "./open-pair.js";
import { runProgram } from "./run-program.js";
import { cellsOf, tableOfPairs } from "./table.js";

const PAGE = new URL("../../../docs/guarantees.md", import.meta.url);

/** Asks for both features, at construction and then in a call. */
async function useBoth(pair: Pair, variant: number): Promise<void> {
  const { has, limiters, store } = openPair(pair, variant, memoryStore());
  const [limiter] = limiters;
  const hold = { for: MINUTE, then: "keep" } as const;
  const options = {
    key: KEY,
    ...(has("id") && { once: "x" }),
    ...(has("hold") && { once: "x", hold }),
  };
  if (has("transaction")) await limiter!.transaction(({ limit }) => limit("work", options));
  else if (has("using")) {
    await store.transaction!((tx) => limiter!.using(tx).limit("work", options), {});
  } else if (has("slot")) await limiter!.enter("work", options);
  else await limiter!.limit("limit", options);
}

describe("two features of a limit", () => {
  it.each(PAIRS.filter(isRefused))("are refused with a reason: %s and %s", async (...pair) => {
    for (const variant of [0, 1]) {
      await expect(useBoth(pair, variant)).rejects.toThrow(REFUSED[nameOf(pair)]);
    }
  });

  it.each(USED)("answer as the model says: %s and %s", async (...pair) => {
    let granted = 0;
    await fc.assert(
      fc.asyncProperty(anyProgram(pair), async (program) => {
        granted += await runProgram(pair, program, memoryStore());
      }),
      // Fewer might grant nothing.
      { numRuns: 30 },
    );
    expect(granted).toBeGreaterThan(0);
  });

  it("are in the table of the documentation", async () => {
    const table = tableOfPairs();
    console.log(table);
    const [, section = ""] = (await readFile(PAGE, "utf8")).split("## Two features at a time");
    expect(cellsOf(section.split("\n## ")[0]!)).toEqual(cellsOf(table));
  });
});
