/** Random programs with holds, compared with a model of the contract. */
import { describe, expect, it } from "vitest";
import { storesAndRedis } from "../../../support/stores.js";
import { HoldsPrograms } from "../holds/holds-programs.js";
import { createRandom } from "../../../support/seeded-random.js";

/** Set it to a million for a night. */
const IN_MEMORY = Number(process.env["HOLDS_PROGRAMS"] ?? 1000);
const ON_DATABASES = Math.max(30, IN_MEMORY / 1000);
/** Programs on rows of their own: others make a list longer. */
const AT_A_TIME = 20;

describe.each(storesAndRedis)("random programs with holds on %s", (kind, open) => {
  it("give what the model says", { timeout: 60_000 + 60 * IN_MEMORY }, async () => {
    const random = createRandom(IN_MEMORY);
    const all = kind === "memory" ? IN_MEMORY : ON_DATABASES;
    const counts: Record<string, number> = {};
    for (let from = 0; from < all; from += AT_A_TIME) {
      await using opened = await open();
      const { store, peer } = opened;
      const programs = new HoldsPrograms(store, peer, random, `${from}`, kind !== "Redis");
      for (let i = from; i < Math.min(all, from + AT_A_TIME); i++) await programs.run(i);
      for (const [event, count] of Object.entries(programs.counts)) {
        counts[event] = (counts[event] ?? 0) + count;
      }
    }
    const ends = ["true", "settled", "released", "kept", "given back", "unknown", "not all named"];
    const events = ["limit false", "limitAll true", "limitFirst true", "prune", "forget"];
    const often = ["limit true", "limit false", "end true", "end unknown"];
    const expected = all < 300 ? often : [...ends.map((how) => `end ${how}`), ...events];
    expect(expected.filter((event) => counts[event] === undefined)).toEqual([]);
  });
});
