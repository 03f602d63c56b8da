/**
 * Every verb refuses a given count that is not a number, before it takes anything. `undefined` is
 * refused, too. If the count is the optional input of a client, 1 token may be right, and the caller can
 * write so (`count ?? 1`). If a provider left the figure out, 1 token is far too few. Only `settle`
 * accepts a missing figure, because it can keep the estimate.
 */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, HOUR, memoryStore } from "../../../../server/index.js";

const limits = {
  tokens: { kind: "token bucket", rate: 100, period: HOUR },
  sharded: { kind: "token bucket", rate: 100, period: HOUR, shards: 4 },
  leased: { kind: "token bucket", rate: 100, period: HOUR, lease: { ms: 1000 } },
  credits: { kind: "credits", capacity: 100 },
  running: { kind: "concurrency", slots: 2 },
} as const;

async function setUp() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits,
    clock: createManualClock(),
    overrides: true,
  });
  await limiter.credit("credits", { count: 50 });
  const [taken, other] = [
    await limiter.limit("tokens", { count: 10 }),
    await limiter.limit("tokens", { count: 10 }),
  ];
  const paid = await limiter.limitFirst(["tokens", "credits"], { count: 10 });
  return { limiter, taken, other, paid };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** As from plain JavaScript, and from TypeScript without `exactOptionalPropertyTypes`. */
type Verb = (at: SetUp, count: number) => Promise<unknown>;

const verbs: Record<string, Verb> = {
  limit: ({ limiter }, count) => limiter.limit("tokens", { count }),
  "limit, with shards": ({ limiter }, count) => limiter.limit("sharded", { count }),
  "limit, with a lease": ({ limiter }, count) => limiter.limit("leased", { count }),
  "limit, with once": ({ limiter }, count) => limiter.limit("tokens", { count, once: "id" }),
  check: ({ limiter }, count) => limiter.check("tokens", { count }),
  acquire: ({ limiter }, count) => limiter.acquire("tokens", { count }),
  limitAll: ({ limiter }, count) =>
    limiter.limitAll([{ name: "sharded" }, { name: "tokens", count }]),
  limitFirst: ({ limiter }, count) => limiter.limitFirst(["tokens", "credits"], { count }),
  "limitFirst, of an item": ({ limiter }, count) =>
    limiter.limitFirst([{ name: "tokens", count }, "credits"]),
  "limitFirst, with split": ({ limiter }, count) =>
    limiter.limitFirst(["tokens", "credits"], { count, split: true }),
  charge: ({ limiter }, count) => limiter.charge("tokens", { count }),
  credit: ({ limiter }, count) => limiter.credit("credits", { count }),
  refund: ({ limiter }, count) => limiter.refund("tokens", { count }),
  "refund of a result": ({ limiter, taken }, count) =>
    limiter.refund("tokens", { count, result: taken }),
  "refund of a payment": ({ limiter, paid }, count) => limiter.refund(paid, { count }),
  settle: ({ limiter, taken }, count) => limiter.settle(taken, count),
  "settle of a payment": ({ limiter, paid }, count) => limiter.settle(paid, count),
  "enter, with tokens": ({ limiter }, count) =>
    limiter.enter("running", { with: [{ name: "tokens", count }] }),
};

const wrong: [string, unknown][] = [
  ["undefined", undefined],
  ["NaN", NaN],
  ["null", null],
  ["a text", "5"],
  ["negative", -1],
  ["without an end", Infinity],
];

const MISSING = new Set<unknown>([undefined, null, NaN]);

describe.each(Object.entries(verbs))("%s", (verb, call) => {
  const refused = wrong.filter(([, count]) => !verb.startsWith("settle") || !MISSING.has(count));
  it.each(refused)("refuses a count that is %s, and takes nothing", async (__, count) => {
    const at = await setUp();
    const names = ["tokens", "sharded", "leased", "credits"] as const;
    const left = () => Promise.all(names.map((name) => at.limiter.getValue(name)));
    const before = await left();
    await expect(call(at, count as number)).rejects.toMatchObject({
      name: "RateLimitInputError",
      reason: "count",
      message: expect.stringMatching(/^count must be a finite number of at least 0, got /),
    });
    expect(await left()).toEqual(before);
  });
});

describe.each([{ unlimited: true }, { blocked: true }] as const)(
  "under the override %o",
  (rule) => {
    it.each(["limit", "check", "limitAll", "limitFirst", "charge"] as const)(
      "%s refuses a count that is undefined, too",
      async (verb) => {
        const at = await setUp();
        await at.limiter.overrides.set("tokens", rule);
        const call = verbs[verb]!(at, undefined as never);
        await expect(call).rejects.toMatchObject({ name: "RateLimitInputError", reason: "count" });
      },
    );
  },
);

it("says what to do where a charge has no figure, and charges nothing", async () => {
  const { limiter } = await setUp();
  await expect(limiter.charge("tokens", { count: undefined as never })).rejects.toThrow(
    "got undefined; to take 1 token, leave count out; where the use is not known, do not call charge()",
  );
  expect((await limiter.getValue("tokens")).value).toBe(70);
});

it("takes one token where the count is left out", async () => {
  const { limiter } = await setUp();
  await limiter.limit("tokens", {});
  await limiter.charge("tokens");
  await limiter.limitAll([{ name: "tokens" }]);
  await limiter.limitFirst(["tokens"], {});
  expect((await limiter.getValue("tokens")).value).toBe(66);
});
