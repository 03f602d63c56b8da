/** The race of the site's first page: the page shows the limiters' real answers. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, type RateLimitStore } from "trpc-rate-limit/server";
import { PLANS } from "../../../example-app/model/limits.js";
import { raceLimits } from "../../../example-app/race/limits.js";
import { LIMITS } from "../../../example-app/shared/server/limiter.js";
import { farStore, raceInMemory, type RaceLimiter } from "../../../site/app/races.js";

const real = () =>
  createRateLimiter({
    store: farStore(memoryStore()),
    limits: LIMITS,
    plans: PLANS,
    plan: () => "free",
  });

it.each(["same", "each"] as const)(
  "grants more than ten by a limiter that reads, compares and writes, and ten by the package (%s)",
  async (tick) => {
    const limiter = real();
    const race = await raceInMemory(limiter, "ada", tick);
    expect(race.naive.granted).toBeGreaterThan(10);
    expect(race.naive.taken).toBe(race.naive.granted);
    expect(race.package).toMatchObject({ granted: 10, taken: 10 });
    for (const { processes, granted, ms } of [race.naive, race.package]) {
      const outcomes = processes.flatMap((each) => each.outcomes);
      const countOf = (wanted: string) => outcomes.filter((each) => each === wanted).length;
      expect(processes.map((each) => each.outcomes.length)).toEqual([25, 25]);
      expect([countOf("granted"), countOf("over")]).toEqual([10, granted - 10]);
      expect(countOf("denied")).toBe(50 - granted);
      expect(Math.max(...processes.flatMap(({ after }) => after))).toBe(ms);
    }
    // It leaves no row. Another race begins with all tokens.
    expect((await limiter.list("race")).items).toEqual([]);
    expect((await raceInMemory(limiter, "ada", tick)).package.granted).toBe(10);
  },
);

it("has the package answer late, as the table of the other side does", async () => {
  const isAnsweredInThisTick = async (store: RateLimitStore) => {
    let isAnswered = false;
    const limiter = createRateLimiter({ store, limits: raceLimits });
    const answer = limiter.limit("race", { key: "ada" }).then(() => (isAnswered = true));
    for (let i = 0; i < 100; i++) await Promise.resolve();
    const inThisTick = isAnswered;
    await answer;
    return inThisTick;
  };
  expect(await isAnsweredInThisTick(farStore(memoryStore()))).toBe(false);
  expect(await isAnsweredInThisTick(memoryStore())).toBe(true);
});

describe("a limiter in place of the package's that", () => {
  const broken = (limit: RaceLimiter["limit"]): RaceLimiter => ({
    limit,
    getValue: async () => ({ value: 10 }),
    reset: async () => {},
  });

  it.each([
    ["grants every call", async () => ({ ok: true }), 50],
    ["denies every call", async () => ({ ok: false }), 0],
    ["fails", () => Promise.reject(new Error("the database is gone")), 0],
  ])("%s is shown so", async (_, limit, granted) => {
    const race = await raceInMemory(broken(limit), "ada", "same");
    expect(race.package.granted).toBe(granted);
    const outcomes = race.package.processes.flatMap((each) => each.outcomes);
    expect(outcomes.filter((each) => each === "over")).toHaveLength(Math.max(0, granted - 10));
  });
});
