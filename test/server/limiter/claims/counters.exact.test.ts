/**
 * Usage that an invoice is made of is in the table as soon as a call is answered: whatever this process
 * has not written yet, and once per id.
 */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import type { Usage } from "../../../../core/usage.js";
import { createRateLimiter, DAY, HOUR, type RateLimitStore } from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";

const START = Date.UTC(2030, 0, 1);
const tokens = { kind: "fixed window", rate: 100, period: DAY, start: 0, usage: true } as const;
const limits = {
  tokens: { ...tokens, holds: true },
  plain: tokens,
  sharded: { ...tokens, shards: 4 },
  credits: { kind: "credits", usage: true, holds: true },
  bucket: { kind: "token bucket", rate: 100, period: DAY, usage: true },
} as const;
type Name = keyof typeof limits;
const key = "ann";
const none: Usage = { granted: 0, denied: 0, taken: 0, givenBack: 0 };

/** A process that never writes its sums, and another process that sees only what is in the table. */
function twoProcesses({ store, peer }: Record<"store" | "peer", RateLimitStore>) {
  const clock = createManualClock(START);
  const terms = { limits, clock, flushUsage: DAY, random: () => 0.5 };
  const limiter = createRateLimiter({ store, ...terms });
  const reader = createRateLimiter({ store: peer, ...terms });
  async function used(name: Name): Promise<Partial<Usage>> {
    const { total } = await reader.usage(name, { key, from: START, to: START + DAY });
    return total;
  }
  return { limiter, reader, clock, used };
}

type Limiter = ReturnType<typeof twoProcesses>["limiter"];
type Step = [title: string, name: Name, run: (limiter: Limiter) => Promise<unknown>, usage: object];

async function twice(run: () => Promise<unknown>): Promise<void> {
  await run();
  await run();
}

const hold = { for: HOUR, then: "release" } as const;
const steps: Step[] = [
  [
    "a call with an id",
    "plain",
    (limiter) => twice(() => limiter.limit("plain", { key, count: 7, once: "a" })),
    { granted: 1, taken: 7 },
  ],
  [
    "a call that holds its tokens",
    "tokens",
    (limiter) => twice(() => limiter.limit("tokens", { key, count: 7, once: "a", hold })),
    { granted: 1, taken: 7 },
  ],
  [
    "a hold that is settled, and settled again",
    "tokens",
    async (limiter) => {
      await limiter.limit("tokens", { key, count: 7, once: "a", hold });
      await twice(() => limiter.settle("tokens", { key, once: "a" }, 5));
      await limiter.limit("tokens", { key, count: 7, once: "b", hold });
      await twice(() => limiter.settle("tokens", { key, once: "b" }, 10));
    },
    { granted: 2, taken: 17, givenBack: 2 },
  ],
  [
    "a hold that is released",
    "tokens",
    async (limiter) => {
      await limiter.limit("tokens", { key, count: 7, once: "a", hold });
      await twice(() => limiter.release("tokens", { key, once: "a" }));
    },
    { granted: 1, taken: 7, givenBack: 7 },
  ],
  [
    "a call for credits",
    "credits",
    async (limiter) => {
      await limiter.credit("credits", { key, count: 20, once: "paid" });
      await limiter.limit("credits", { key });
      await limiter.limit("credits", { key, count: 4 });
      await limiter.limit("credits", { key, count: 0 });
    },
    { granted: 3, taken: 5 },
  ],
  [
    "a call for credits that nothing is left for",
    "credits",
    (limiter) => limiter.limit("credits", { key, count: 4 }),
    {},
  ],
  [
    "credits that pay after a plan",
    "credits",
    async (limiter) => {
      await limiter.credit("credits", { key, count: 20 });
      await limiter.limitFirst(["plain", "credits"], { key, count: 104, split: true });
      await limiter.limitAll([
        { name: "plain", key, count: 0 },
        { name: "credits", key, count: 5 },
      ]);
    },
    { granted: 2, taken: 9 },
  ],
  [
    "several limits with an id",
    "plain",
    (limiter) =>
      twice(() =>
        limiter.limitAll(
          [
            { name: "plain", key, count: 3 },
            { name: "bucket", key },
          ],
          { once: "a" },
        ),
      ),
    { granted: 1, taken: 3 },
  ],
  [
    "several limits that are denied",
    "plain",
    (limiter) =>
      limiter.limitAll(
        [
          { name: "plain", key, count: 3 },
          { name: "credits", key, count: 5 },
        ],
        { once: "a" },
      ),
    {},
  ],
  [
    "the first limit that pays for an id",
    "plain",
    (limiter) =>
      twice(() => limiter.limitFirst(["credits", "plain"], { key, count: 3, once: "a" })),
    { granted: 1, taken: 3 },
  ],
  ["a charge", "plain", (limiter) => limiter.charge("plain", { key, count: 150 }), { taken: 150 }],
  [
    "a charge of a limit with shards, into debt",
    "sharded",
    (limiter) => twice(() => limiter.charge("sharded", { key, count: 60 })),
    { taken: 120 },
  ],
  [
    "a charge with an id",
    "plain",
    (limiter) => twice(() => limiter.charge("plain", { key, count: 3, once: "a" })),
    { taken: 3 },
  ],
  [
    "what a settlement gives back",
    "plain",
    async (limiter) => {
      const result = await limiter.limit("plain", { key, count: 9 });
      await twice(() => limiter.settle(result, 2));
    },
    { givenBack: 7 },
  ],
  [
    "what a settlement charges, and gives back again",
    "plain",
    async (limiter) => {
      const result = await limiter.limit("plain", { key, count: 1 });
      await limiter.settle(result, 31);
      await limiter.settle(result, 11);
    },
    { taken: 30, givenBack: 20 },
  ],
  [
    "a refund",
    "plain",
    async (limiter) => {
      const result = await limiter.limit("plain", { key, count: 9 });
      await limiter.refund("plain", { key, count: 2 });
      await limiter.refund("plain", { key, count: 3, result });
      await limiter.refund("plain", { key, count: 1, result: { ...result } });
    },
    { givenBack: 6 },
  ],
  [
    "a refund to a limit with shards, all of whose rows are asked",
    "sharded",
    async (limiter) => {
      await limiter.charge("sharded", { key, count: 60 });
      await limiter.refund("sharded", { key, count: 55 });
    },
    { taken: 60, givenBack: 55 },
  ],
  [
    "a refund of what was replaced meanwhile",
    "plain",
    (limiter) => limiter.refund("plain", { key, count: 2 }),
    { givenBack: 2 },
  ],
];

describe.each(storesAndRedis)("in the table on %s", (_name, open) => {
  it.each(steps)("is %s", async (_title, name, run, usage) => {
    await using opened = await open({ isNew: true });
    const { limiter, used } = twoProcesses(opened);
    await run(limiter);
    expect(await used(name)).toEqual({ ...none, ...usage });
    // What this process adds later is what it has summed up, and not the same again.
    await limiter.flushUsage();
    const { taken = 0, givenBack = 0 } = await used(name);
    const { value } = await limiter.getValue(name, { key });
    if (name === "credits") return;
    expect(Math.min(100, 100 - taken + givenBack)).toBe(value);
  });

  it("is a hold that has lapsed, whether its tokens come back or stay charged", async () => {
    await using opened = await open({ isNew: true });
    const { limiter, clock, used, reader } = twoProcesses(opened);
    const back = { key, count: 30, once: "a", hold } as const;
    await limiter.limit("tokens", back);
    const kept = { for: HOUR, then: "keep" } as const;
    await limiter.limit("tokens", { key, count: 40, once: "b", hold: kept });
    clock.advance(2 * HOUR);
    expect(await limiter.limit("tokens", { key, count: 60 })).toMatchObject({ ok: true });
    expect(await used("tokens")).toEqual({ ...none, granted: 2, taken: 70, givenBack: 30 });
    // A lapsed hold ends once, whoever notices it.
    expect(await reader.settle("tokens", { key, once: "a" }, 1)).toMatchObject({ settled: false });
    expect(await used("tokens")).toMatchObject({ taken: 70, givenBack: 30 });
  });

  it("counts an id once for a caller whom an override exempts, too", async () => {
    await using opened = await open({ isNew: true });
    const plans = ["free", "max"] as const;
    const planned = {
      tokens: {
        kind: "fixed window",
        period: DAY,
        start: 0,
        usage: true,
        plans: { free: 10, max: "unlimited" },
      },
    } as const;
    const clock = createManualClock(START);
    const terms = { plans, limits: planned, clock, flushUsage: DAY };
    const limiter = createRateLimiter({ store: opened.store, ...terms });
    const reader = createRateLimiter({ store: opened.peer, ...terms });
    const own = { key, plan: "max" } as const;
    await twice(() => limiter.charge("tokens", { ...own, count: 500, once: "job" }));
    await twice(() => limiter.limit("tokens", { ...own, count: 20, once: "call" }));
    await twice(() => limiter.limitFirst(["tokens"], { ...own, count: 3, once: "first" }));
    await limiter.charge("tokens", { ...own, count: 7 });
    const { total } = await reader.usage("tokens", { key, from: START, to: START + DAY });
    expect(total).toEqual({ ...none, granted: 2, taken: 530 });
    const again = await limiter.limit("tokens", { ...own, count: 20, once: "call" });
    expect(again).toMatchObject({ ok: true, repeated: true });
  });
});

describe.each(stores)("in a transaction on %s", (_name, open) => {
  it("counts with its commit, and not at all after a rollback", async () => {
    await using opened = await open({ isNew: true });
    const { limiter, used } = twoProcesses(opened);
    await limiter.credit("credits", { key, count: 50 });
    const body = async (tx: Pick<Limiter, "limit" | "charge" | "settle" | "refund">) => {
      await tx.limit("credits", { key, count: 4 });
      await tx.charge("plain", { key, count: 5 });
      await tx.limit("tokens", { key, count: 6, once: "a", hold });
      await tx.settle("tokens", { key, once: "a" }, 2);
      await tx.refund("plain", { key, count: 1 });
    };
    const failing = limiter.transaction(async (tx) => {
      await body(tx);
      throw new Error("roll back");
    });
    await expect(failing).rejects.toThrow("roll back");
    for (const name of ["credits", "plain", "tokens"] as const) {
      expect(await used(name)).toEqual(none);
    }
    await limiter.transaction(body);
    expect(await used("credits")).toEqual({ ...none, granted: 1, taken: 4 });
    expect(await used("plain")).toEqual({ ...none, taken: 5, givenBack: 1 });
    expect(await used("tokens")).toEqual({ ...none, granted: 1, taken: 6, givenBack: 4 });
    await limiter.flushUsage();
    expect(await used("credits")).toEqual({ ...none, granted: 1, taken: 4 });
  });
});
