import { beforeEach, describe, expect, it } from "vitest";
import { DAY, isRateLimitError, MINUTE, SECOND } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  perSecond: { kind: "token bucket", rate: 2, period: SECOND },
  perDay: { kind: "fixed window", rate: 5, period: DAY, start: 0 },
  left: { kind: "fixed window", rate: 10, period: DAY, start: 0, maxReserved: 10 },
  right: { kind: "fixed window", rate: 10, period: DAY, start: 0, maxReserved: 10 },
  sharded: { kind: "token bucket", rate: 100, period: MINUTE, shards: 4, maxReserved: 10 },
} as const;

describe.each(storesAndRedis)("limitAll on %s", (_name, open) => {
  const setUp = () => twoProcesses(open, limits);
  const both = (key: string) => [
    { name: "perSecond", key } as const,
    { name: "perDay", key } as const,
  ];

  let setting: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    setting = await setUp();
  });

  it("charges every limit, or none of them", async () => {
    const { limiter, clock } = setting;
    for (let i = 0; i < 2; i++) {
      expect(await limiter.limitAll(both("u"))).toMatchObject({ ok: true });
    }
    const denied = await limiter.limitAll(both("u"));
    expect(denied).toMatchObject({ ok: false, retryAfter: 500, name: "perSecond" });
    expect(await limiter.getValue("perDay", { key: "u" })).toMatchObject({ value: 3 });
    clock.advance(10 * SECOND);
    for (let i = 0; i < 3; i++) {
      expect(await limiter.limitAll(both("u"))).toMatchObject({ ok: true });
      if (i === 1) clock.advance(SECOND);
    }
    // 11 s of the day are over. The daily limit has the longest wait.
    const exhausted = await limiter.limitAll(both("u"));
    expect(exhausted).toMatchObject({ ok: false, name: "perDay", retryAfter: DAY - 11 * SECOND });
  });

  it("gives a wait that is true for all limits together, also if they share a row", async () => {
    const { limiter, clock } = setting;
    const twice = [...both("u"), { name: "perSecond", key: "u" } as const];
    await limiter.limit("perSecond", { key: "u" });
    const denied = await limiter.limitAll(twice);
    expect(denied).toMatchObject({ ok: false, retryAfter: 500 });
    clock.advance(499);
    expect(await limiter.limitAll(twice)).toMatchObject({ ok: false, retryAfter: 1 });
    clock.advance(1);
    expect(await limiter.limitAll(twice)).toMatchObject({ ok: true });
  });

  it("throws with the longest wait, and rejects counts that could never pass", async () => {
    const { limiter } = setting;
    await limiter.limitAll([...both("u"), ...both("u")]);
    const error: unknown = await limiter
      .limitAll(both("u"), { throws: true })
      .catch((thrown: unknown) => thrown);
    expect(isRateLimitError(error) && error.data.rateLimit).toMatchObject({
      name: "perSecond",
      retryAfter: 500,
    });
    const thrice = [...both("v"), ...both("v"), ...both("v")];
    await expect(limiter.limitAll(thrice)).rejects.toThrow('never be granted by "perSecond"');
    expect(await limiter.limitAll([])).toEqual({ ok: true, results: [] });
  });

  it("throws with every exhausted limit, its own wait, and no limit that has enough", async () => {
    const { limiter, clock } = setting;
    const three = [...both("u"), { name: "sharded" } as const];
    for (let i = 0; i < 2; i++) await limiter.limitAll(three);
    const thrown = () => limiter.limitAll(three, { throws: true }).catch((error: unknown) => error);
    expect(await thrown()).toMatchObject({
      message: 'Rate limit "perSecond" exceeded. Try again in 1 second',
      data: { rateLimit: { name: "perSecond", denials: [{ name: "perSecond", value: 0 }] } },
    });
    clock.advance(SECOND);
    await limiter.limit("perDay", { key: "u", count: 3 });
    await limiter.limit("perSecond", { key: "u", count: 2 });
    const answer = await limiter.limitAll(three);
    const error = await thrown();
    expect(error).toMatchObject({
      message: `Rate limit "perDay", "perSecond" exceeded. Try again in 1 day`,
    });
    const { perSecond, perDay } = limiter.limits;
    const { data } = JSON.parse(JSON.stringify(error)) as { data: object };
    expect(data).toEqual({
      rateLimit: {
        kind: "RateLimited",
        name: "perDay",
        retryAfter: DAY - SECOND,
        value: 0,
        config: perDay,
        now: clock(),
        denials: [
          { name: "perSecond", retryAfter: 500, value: 0, config: perSecond },
          { name: "perDay", retryAfter: DAY - SECOND, value: 0, config: perDay },
        ],
      },
    });
    expect(answer.results.map(({ ok }) => ok)).toEqual([false, false, true]);
    expect(answer.results).toMatchObject([{ retryAfter: 500 }, { retryAfter: DAY - SECOND }, {}]);
  });

  it("accepts limits with shards and reservations", async () => {
    const { limiter } = setting;
    const items = [
      { name: "perDay", key: "u" } as const,
      { name: "sharded", count: 55, reserve: true } as const,
    ];
    const reserved = await limiter.limitAll(items);
    expect(reserved).toMatchObject({ ok: true });
    expect(reserved.retryAfter).toBeGreaterThan(0);
    expect((await limiter.getValue("sharded")).value).toBeCloseTo(45);
    expect((await limiter.getValue("perDay", { key: "u" })).value).toBe(4);
  });

  it("relies on limits that it takes nothing from only while they are as it has seen them", async () => {
    const { limiter, peer } = setting;
    // Each call goes into debt on one limit, and passes only if the other one is not in debt.
    const call = (key: string, own: "left" | "right", other: "left" | "right") => [
      { name: own, key, count: 15, reserve: true },
      { name: other, key, count: 0 },
    ];
    for (let round = 0; round < 20; round++) {
      const key = `${round}`;
      // In half of the rounds, the rows exist.
      if (round % 2 === 0) {
        await limiter.limitAll([
          { name: "left", key },
          { name: "right", key },
        ]);
      }
      const results = await Promise.all([
        limiter.limitAll(call(key, "left", "right")),
        peer.limitAll(call(key, "right", "left")),
      ]);
      expect({ round, granted: results.filter(({ ok }) => ok).length }).toEqual({
        round,
        granted: 1,
      });
    }
  });

  it("neither deadlocks nor leaks when callers take the same limits in opposite orders", async () => {
    const { limiter, peer } = setting;
    let passed = 0;
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const items = [
          { name: "perDay", key: "left" } as const,
          { name: "perDay", key: "right" } as const,
        ];
        const result = await [limiter, peer][i % 2]!.limitAll(i % 4 < 2 ? items : items.reverse());
        if (result.ok) passed++;
      }),
    );
    expect(passed).toBe(5);
    for (const key of ["left", "right"]) {
      expect((await limiter.getValue("perDay", { key })).value).toBe(0);
    }
  });
});
