/**
 * A call sees two random shards of a limit. A snapshot contains the two shards that hold the most. So an
 * observer knows whether any two shards would grant a call, and from when on, but not which two shards
 * the next call will see. With c the capacity of a shard:
 *
 * - a status is ok if some two shards grant the count, and `retryAt` is when the first two shards will;
 * - any two shards grant `value - (n - 2) * c`: the other shards cannot hold more than that. So with two
 *   shards, which are the whole limit, the prediction is the server's answer.
 *
 * After a call was sent, it is unknown from which shards the call took. Until the next snapshot, two of
 * more than two shards are assumed to hold all tokens. So a predicted wait is never too long, unless the
 * limit allows reservations.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capacityOf, shardConfig } from "../../core/config.js";
import { mostSatisfiable } from "../../core/count.js";
import { HOUR, MINUTE, type PeriodicConfig, SECOND } from "../../server/index.js";
import { anyEvent, type Step } from "../support/schedule.js";
import { createWorld, follow, type Pair, pairsOf } from "../support/world.js";
import { cases } from "../support/cases.js";

const common = { maxReserved: 0 };
const LIMITS = {
  pair: { kind: "token bucket", rate: 6, period: MINUTE, shards: 2, ...common },
  pairOfWindows: { kind: "fixed window", rate: 4, period: 10 * SECOND, shards: 2, ...common },
  three: { kind: "fixed window", rate: 2, period: MINUTE, capacity: 9, shards: 3, ...common },
  four: { kind: "token bucket", rate: 12, period: MINUTE, shards: 4, ...common },
  owing: { kind: "token bucket", rate: 8, period: SECOND, shards: 4, maxReserved: 2 },
  owingPair: { kind: "fixed window", rate: 4, period: HOUR, shards: 2, maxReserved: 3 },
} satisfies Record<string, PeriodicConfig>;
type Name = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as Name[];

/** More than the rounding error of a few tokens, and less than the refill of one ms. */
const NOISE = 1e-9;
const NO_TRIP = [0, 0] as const;
const anySchedule = fc.array<Step>(anyEvent, { maxLength: 12 });
const anyPart = fc.double({ min: 0, max: 1, noNaN: true });

type World = ReturnType<typeof createWorld>;
type Follower = Awaited<ReturnType<typeof follow>>;

/** The answers of each two shards to a call now. */
async function askPairs({ onPair }: World, name: Name, count: number) {
  const results = [];
  for (const pair of pairsOf(LIMITS[name].shards)) {
    results.push(await onPair(pair, (limiter) => limiter.check(name, { count })));
  }
  return results;
}

/** Holds when the observer has received all changes, however old the last snapshot is. */
async function expectTrueRefusals(
  world: World,
  { observer, item, local }: Follower,
  name: Name,
  counts: readonly number[],
): Promise<void> {
  const { value } = await world.limiter.getValue(name);
  expect(observer.check(item, local(), 0)!.value).toBeGreaterThan(value - NOISE);
  for (const count of counts) {
    const least = count - LIMITS[name].maxReserved - NOISE;
    if (least < 0) continue;
    const { retryAt = local() } = observer.check(item, local(), least)!;
    for (const { ok, retryAfter = 0 } of await askPairs(world, name, count)) {
      expect(local() + (ok ? 0 : retryAfter)).toBeGreaterThanOrEqual(retryAt);
    }
  }
}

/** Holds when the observer has the current state. */
async function expectWholeTruth(
  world: World,
  { observer, item, local }: Follower,
  name: Name,
  counts: readonly number[],
): Promise<void> {
  const config: PeriodicConfig = LIMITS[name];
  const { shards = 1, kind, period } = config;
  const part = shardConfig(config);
  const { value } = await world.limiter.getValue(name);
  expect(observer.check(item, local(), 0)!.value).toBe(value);
  /** The tokens that any two shards hold at least. */
  const least = value - (shards - 2) * capacityOf(part);
  for (const count of counts) {
    const predicted = observer.status(item, count)!;
    const got = await askPairs(world, name, count);
    const granted = got.filter(({ ok }) => ok).length;
    expect(predicted.ok).toBe(granted > 0);
    const soonest = Math.min(...got.map(({ retryAfter = 0 }) => retryAfter));
    if (!predicted.ok) expect(predicted.retryAt).toBe(local() + soonest);
    if (count < least - NOISE) expect(granted).toBe(got.length);
    // Where one of two is full already, time fills only the other one.
    const periods = Math.max(0, count + NOISE - least) / part.rate;
    const longest = kind === "token bucket" ? periods * period + 1 : Math.ceil(periods) * period;
    for (const { retryAfter = 0 } of got) expect(retryAfter).toBeLessThanOrEqual(longest);
  }
}

describe("an observer of a sharded limit", () => {
  it.each(NAMES)("says about %s what is true of any two shards", async (name) => {
    const world = createWorld(LIMITS);
    const most = mostSatisfiable(LIMITS[name], false);
    await fc.assert(
      fc.asyncProperty(anySchedule, anyPart, async (steps, of) => {
        using follower = await follow(world, name, HOUR, NO_TRIP);
        const counts = [2 * NOISE, 1, of * most, most];
        for (const [i, step] of steps.entries()) {
          const sent = await follower.perform(step, most);
          const mayOwe = LIMITS[name].maxReserved > 0;
          if (sent?.predicted.ok === false && !mayOwe) expect(sent.actual.ok).toBe(false);
          await expectTrueRefusals(world, follower, name, counts);
          // Every other time, so that refills without a snapshot add up.
          if (i % 2 === 0) continue;
          await follower.deliver("polled");
          await expectTrueRefusals(world, follower, name, counts);
          await expectWholeTruth(world, follower, name, counts);
        }
      }),
      { numRuns: cases(60) },
    );
  });

  it.each(["pair", "pairOfWindows", "three", "four"] as const)(
    "waits for %s as long as any two shards do, when all are empty",
    async (name) => {
      const world = createWorld(LIMITS);
      using follower = await follow(world, name, HOUR, NO_TRIP);
      for (const pair of pairsOf(LIMITS[name].shards)) {
        const { value } = await world.onPair(pair, (of) => of.check(name, { count: 0 }));
        await world.onPair(pair, (of) => of.limit(name, { count: value }));
        const rest = await world.onPair(pair, (of) => of.check(name, { count: 0 }));
        await world.onPair(pair, (of) => of.limit(name, { count: rest.value }));
      }
      await follower.deliver("polled");
      const { observer, item, local } = follower;
      expect(observer.check(item, local(), 0)!.value).toBe(0);
      for (const count of [1, mostSatisfiable(LIMITS[name], false)]) {
        const wait = observer.status(item, count)!.retryAt! - local();
        for (const { ok, retryAfter } of await askPairs(world, name, count)) {
          expect({ ok, retryAfter }).toEqual({ ok: false, retryAfter: wait });
        }
      }
    },
  );

  it("never grants what no two shards hold, however much there is", async () => {
    const world = createWorld(LIMITS);
    using follower = await follow(world, "four", HOUR, NO_TRIP);
    const { observer, item } = follower;
    expect(observer.status(item, 6)).toEqual({ ok: true, retryAt: undefined });
    expect(observer.status(item, 7)).toEqual({ ok: false, retryAt: Infinity });
    await expect(world.limiter.check("four", { count: 7 })).rejects.toThrow("can never be granted");
  });

  const [AB, AC, AD, BC, BD, CD] = pairsOf(4) as [Pair, Pair, Pair, Pair, Pair, Pair];
  const all = [AB, AC, AD, BC, BD, CD];

  it.each<[string, Name, [Pair, number][], number, Pair[]]>([
    ["all shards are full", "four", [], 6, all],
    ["two shards hold all", "four", [[AB, 6]], 6, [CD]],
    [
      "one shard holds all",
      "four",
      [
        [AB, 6],
        [CD, 3],
      ],
      3,
      [AD, BD, CD],
    ],
    [
      "each shard holds a little",
      "four",
      [
        [AB, 4],
        [CD, 4],
      ],
      3,
      [],
    ],
    [
      "each two hold just enough",
      "four",
      [
        [AB, 4],
        [CD, 4],
      ],
      2,
      all,
    ],
    [
      "there is not enough",
      "four",
      [
        [AB, 6],
        [CD, 4],
      ],
      2.5,
      [],
    ],
    [
      "the others are in debt",
      "owing",
      [
        [AB, 5],
        [CD, 0.5],
      ],
      3,
      [CD],
    ],
  ])(
    "where %s, says whether any two shards grant a call, and not which two it will see",
    async (_, name, taken, count, granting) => {
      const world = createWorld(LIMITS);
      using follower = await follow(world, name, 0, NO_TRIP);
      for (const [pair, tokens] of taken) {
        await world.onPair(pair, (of) => of.limit(name, { count: tokens, reserve: true }));
      }
      await follower.deliver("polled");
      expect(follower.observer.status(follower.item, count)!.ok).toBe(granting.length > 0);
      const granted = (await askPairs(world, name, count)).map((result) => result.ok);
      expect(granted).toEqual(all.map((pair) => granting.includes(pair)));
    },
  );
});
