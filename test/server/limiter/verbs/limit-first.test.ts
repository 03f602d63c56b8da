/** `limitFirst`: the plan pays first, then the credits, in one decision. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  type DecisionEvent,
  MAX_RETRY_AFTER,
  memoryStore,
  MINUTE,
  RateLimitError,
  RateLimitInputError,
  type RateLimitResult,
  RateLimitStoreError,
  SECOND,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  plan: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10 },
  daily: { kind: "fixed window", rate: 8, period: MINUTE, start: 0 },
  wide: { kind: "token bucket", rate: 60, period: MINUTE, shards: 4 },
  credits: { kind: "credits" },
} as const;

const NEVER = MAX_RETRY_AFTER;
const key = "ada";

describe.each(storesAndRedis)("limitFirst on %s", (kind, open) => {
  async function setUp(credits = 0) {
    const at = await twoProcesses(open, limits);
    const { limiter, events } = at;
    if (credits > 0) await limiter.credit("credits", { key, count: credits });
    events.length = 0;
    return {
      ...at,
      left: async (name: keyof typeof limits) => (await limiter.getValue(name, { key })).value,
    };
  }

  it("takes all of the count from the first limit that has it", async () => {
    const at = await setUp(100);
    const first = await at.limiter.limitFirst(["plan", "credits"], { key, count: 6 });
    expect(first).toMatchObject({ ok: true, paid: [{ name: "plan", key, count: 6 }] });
    expect(first.results).toMatchObject([{ ok: true, value: 4 }]);
    const second = await at.limiter.limitFirst(["plan", "credits"], { key, count: 6 });
    expect(second).toMatchObject({ ok: true, paid: [{ name: "credits", key, count: 6 }] });
    expect(second.results).toMatchObject([
      { ok: false, retryAfter: 2 * SECOND, value: 4 },
      { ok: true, value: 94 },
    ]);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([4, 94]);
    expect(at.events.map(({ name, count, action }) => [action, name, count])).toEqual([
      ["limit", "plan", 6],
      ["limit", "credits", 6],
    ]);
  });

  it("is denied until the first of them has the tokens", async () => {
    const at = await setUp(2);
    await at.limiter.limit("plan", { key, count: 10 });
    const call = () => at.limiter.limitFirst(["plan", "credits"], { key, count: 5 });
    expect(await call()).toEqual({
      ok: false,
      retryAfter: 5 * SECOND,
      name: "plan",
      results: [
        { ok: false, retryAfter: 5 * SECOND, value: 0 },
        { ok: false, retryAfter: NEVER, value: 2 },
      ],
    });
    at.clock.advance(5 * SECOND - 1);
    expect(await call()).toMatchObject({ ok: false, retryAfter: 1 });
    at.clock.advance(1);
    expect(await call()).toMatchObject({ ok: true, paid: [{ name: "plan" }] });
    expect(await at.left("credits")).toBe(2);
  });

  it("passes over a limit that can never hold so many", async () => {
    const at = await setUp(50);
    expect(await at.limiter.limitFirst(["plan", "credits"], { key, count: 40 })).toMatchObject({
      ok: true,
      paid: [{ name: "credits", count: 40 }],
    });
    const denied = await at.limiter.limitFirst(["plan", "credits"], { key, count: 40 });
    expect(denied).toMatchObject({ ok: false, retryAfter: NEVER, name: "plan" });
    await expect(at.limiter.limitFirst(["plan", "daily"], { key, count: 11 })).rejects.toThrow(
      'no call for 11, 11 tokens can ever be granted by "plan", "daily"',
    );
  });

  it("counts each limit in its own unit", async () => {
    const at = await setUp(50);
    await at.limiter.limit("plan", { key, count: 10 });
    const items = [
      { name: "plan", key },
      { name: "credits", key, count: 20 },
    ] as const;
    expect(await at.limiter.limitFirst(items)).toMatchObject({
      paid: [{ name: "credits", count: 20 }],
    });
  });

  it("splits a count into what each limit has, in order, in whole tokens", async () => {
    const at = await setUp(20);
    await at.limiter.limit("plan", { key, count: 7.5 });
    const call = (count: number) =>
      at.limiter.limitFirst(["plan", "daily", "credits"], { key, count, split: true });
    const result = await call(20);
    expect(result).toMatchObject({
      ok: true,
      paid: [
        { name: "plan", count: 2 },
        { name: "daily", count: 8 },
        { name: "credits", count: 10 },
      ],
    });
    expect([await at.left("plan"), await at.left("daily")]).toEqual([0.5, 0]);
    const next = await call(3);
    expect(next).toMatchObject({ ok: true, paid: [{ name: "credits", count: 3 }] });
    expect(next.results).toMatchObject([{ ok: false }, { ok: false }, { ok: true, value: 7 }]);
  });

  it("takes nothing of a split that the limits cannot pay, and says when they can", async () => {
    const at = await setUp(3);
    await at.limiter.limit("plan", { key, count: 9 });
    const call = () => at.limiter.limitFirst(["plan", "credits"], { key, count: 10, split: true });
    expect(await call()).toMatchObject({ ok: false, retryAfter: 6 * SECOND, name: "plan" });
    expect([await at.left("plan"), await at.left("credits")]).toEqual([1, 3]);
    at.clock.advance(6 * SECOND - 1);
    expect(await call()).toMatchObject({ ok: false, retryAfter: 1 });
    at.clock.advance(1);
    expect(await call()).toMatchObject({
      ok: true,
      paid: [
        { name: "plan", count: 7 },
        { name: "credits", count: 3 },
      ],
    });
    expect(
      await at.limiter.limitFirst(["plan", "credits"], { key, count: 11, split: true }),
    ).toMatchObject({ ok: false, retryAfter: NEVER });
  });

  it("pays from the shards of a limit", async () => {
    const at = await setUp(100);
    const result = await at.limiter.limitFirst(["wide", "credits"], {
      key,
      count: 40,
      split: true,
    });
    expect(result).toMatchObject({
      paid: [
        { name: "wide", count: 30 },
        { name: "credits", count: 10 },
      ],
    });
    expect(await at.left("wide")).toBe(30);
    await at.limiter.settle(result, 5);
    expect([await at.left("wide"), await at.left("credits")]).toEqual([55, 100]);
  });

  it("settles by giving back in the reverse order", async () => {
    const at = await setUp(20);
    const result = await at.limiter.limitFirst(["plan", "credits"], {
      key,
      count: 25,
      split: true,
    });
    expect([await at.left("plan"), await at.left("credits")]).toEqual([0, 5]);
    await at.limiter.settle(result, 12);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([0, 18]);
    await at.limiter.settle(result, 4);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([6, 20]);
    await at.limiter.settle(result, 4);
    expect(await at.limiter.refund(result, { count: 100 })).toEqual({ value: 4 });
    expect([await at.left("plan"), await at.left("credits")]).toEqual([10, 20]);
  });

  it("charges what was used beyond the estimate to the first limit", async () => {
    const at = await setUp(20);
    await at.limiter.limit("plan", { key, count: 10 });
    const result = await at.limiter.limitFirst(["plan", "credits"], { key, count: 20 });
    expect(result).toMatchObject({ paid: [{ name: "credits", count: 20 }] });
    await at.limiter.settle(result, 23);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([-3, 0]);
    // What was charged last goes back first.
    await at.limiter.settle(result, 21);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([-1, 0]);
    await at.limiter.settle(result, 5);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([0, 15]);
  });

  it("gives each token back once, whichever result it is given back by", async () => {
    const at = await setUp(20);
    const result = await at.limiter.limitFirst(["plan", "credits"], {
      key,
      count: 15,
      split: true,
    });
    const [, ofCredits] = result.results as [RateLimitResult, RateLimitResult];
    await Promise.all([
      at.limiter.settle(ofCredits, 0),
      at.limiter.settle(result, 0),
      at.limiter.settle(result, 0),
      at.limiter.refund("credits", { key, count: 5, result: ofCredits }),
    ]);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([10, 20]);
  });

  it("is undone by the rollback of a transaction, and is part of its commit", async (test) => {
    const at = await setUp(20);
    if (kind === "Redis") return test.skip("Redis has no transactions");
    const failed = at.limiter.transaction(async (scope) => {
      const result = await scope.limitFirst(["plan", "credits"], { key, count: 15, split: true });
      await scope.settle(result, 12);
      throw new Error("rolled back");
    });
    await expect(failed).rejects.toThrow("rolled back");
    expect([await at.left("plan"), await at.left("credits")]).toEqual([10, 20]);
    const result = await at.limiter.transaction(async (scope) => {
      await scope.credit("credits", { key, count: 5 });
      return scope.limitFirst(["plan", "credits"], { key, count: 35, split: true });
    });
    expect([await at.left("plan"), await at.left("credits")]).toEqual([0, 0]);
    await at.limiter.settle(result, 0);
    expect([await at.left("plan"), await at.left("credits")]).toEqual([10, 25]);
  });

  it("grants to many calls at once exactly what the limits hold together", async () => {
    const at = await setUp(30);
    const calls = Array.from({ length: 60 }, (__, i) =>
      (i % 2 ? at.limiter : at.peer).limitFirst(["plan", "credits"], { key }),
    );
    const results = await Promise.all(calls);
    const payers = results.flatMap((result) => (result.ok ? result.paid : [])).map((p) => p.name);
    expect(payers.filter((name) => name === "plan")).toHaveLength(10);
    expect(payers.filter((name) => name === "credits")).toHaveLength(30);
    const splits = await setUp(30);
    const parted = { key, count: 3, split: true } as const;
    const all = await Promise.all(
      Array.from({ length: 30 }, (__, i) =>
        (i % 2 ? splits.limiter : splits.peer).limitFirst(["plan", "credits"], parted),
      ),
    );
    expect(all.filter(({ ok }) => ok)).toHaveLength(13);
    expect((await splits.left("plan")) + (await splits.left("credits"))).toBe(1);
  });
});

describe("limitFirst", () => {
  const clock = createManualClock();
  const open = (events: DecisionEvent[] = []) =>
    createRateLimiter({
      store: memoryStore(),
      clock,
      limits: {
        ...limits,
        shown: { kind: "token bucket", rate: 1, period: SECOND, shadow: true },
        closing: { kind: "token bucket", rate: 1, period: SECOND, blockFor: MINUTE },
      },
      onDecision: (event) => void events.push(event),
    });

  it("throws a RateLimitError that names every limit, with the wait of the call", async () => {
    const limiter = open();
    await limiter.limit("plan", { key, count: 10 });
    const error = await limiter
      .limitFirst(["plan", "credits"], { key, count: 2, throws: true })
      .catch((thrown: unknown) => thrown as RateLimitError);
    expect(error).toBeInstanceOf(RateLimitError);
    const { rateLimit } = (error as RateLimitError).data;
    expect(rateLimit).toMatchObject({ name: "plan", retryAfter: 2 * SECOND, value: 0 });
    expect(rateLimit.denials).toMatchObject([
      { name: "plan", retryAfter: 2 * SECOND },
      { name: "credits", retryAfter: NEVER, config: { kind: "credits" } },
    ]);
    const broke = limiter.limitFirst(["credits"], { key, throws: true });
    await expect(broke).rejects.toThrow('Rate limit "credits" exceeded. Waiting does not help');
  });

  it("closes no bucket, because another limit may pay", async () => {
    const limiter = open();
    await limiter.limit("closing", { key });
    expect(await limiter.limitFirst(["closing", "credits"], { key })).toMatchObject({
      ok: false,
      retryAfter: SECOND,
    });
    clock.advance(SECOND);
    expect(await limiter.limitFirst(["closing", "credits"], { key })).toMatchObject({ ok: true });
  });

  it("reports those that paid, and of a denied call all of them", async () => {
    const events: DecisionEvent[] = [];
    const limiter = open(events);
    await limiter.limitFirst(["plan", "credits"], { key, count: 10 });
    await limiter.limitFirst(["plan", "credits"], { key });
    expect(events.map(({ name, result }) => [name, result.ok])).toEqual([
      ["plan", true],
      ["plan", false],
      ["credits", false],
    ]);
  });

  it("settles neither a denied call, nor a copy, nor the result of another limiter", async () => {
    const limiter = open();
    const result = await limiter.limitFirst(["plan"], { key, count: 10 });
    const denied = await limiter.limitFirst(["plan"], { key });
    await expect(limiter.settle(denied, 0)).rejects.toThrow("a denied call took no tokens");
    await expect(limiter.settle({ ...result }, 0)).rejects.toThrow("not a copy");
    await expect(open().settle(result, 0)).rejects.toThrow(RateLimitInputError);
    expect(JSON.parse(JSON.stringify(result))).toEqual({ ...result });
  });

  it("lets calls through in an outage if one of the limits does, and nobody pays", async () => {
    const store = memoryStore();
    const broken = {
      ...store,
      apply: () => Promise.reject(new RateLimitStoreError("the database is gone")),
    };
    const opening = {
      ...limits,
      plan: { ...limits.plan, whenStoreFails: "allow" },
    } as const;
    const limiter = createRateLimiter({ store: broken, limits: opening, logger: false });
    const result = await limiter.limitFirst(["credits", "plan"], { key });
    expect(result).toMatchObject({ ok: true, paid: [], results: [{ storeFailed: true }] });
    const closed = createRateLimiter({ store: broken, limits, logger: false });
    await expect(closed.limitFirst(["credits", "plan"], { key })).rejects.toThrow(
      "the database is gone",
    );
  });
});
