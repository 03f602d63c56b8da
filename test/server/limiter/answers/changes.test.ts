/** The levels of `warnAt` that decisions cross, as `onDecision` hears of them. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  type DecisionEvent,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitStore,
  RateLimitStoreError,
  SECOND,
} from "../../../../server/index.js";

const window = { kind: "fixed window", rate: 10, period: HOUR, start: 0 } as const;
const limits = {
  window: { ...window, warnAt: [0.5] },
  counted: { ...window, usage: true, warnAt: [0.5] },
  held: { ...window, holds: true, warnAt: [0.5] },
  other: window,
} as const;

function open(options: { store?: RateLimitStore; whenStoreFails?: "allow" } = {}) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: createManualClock(1_900_000_000_000),
    limits,
    overrides: true,
    logger: false,
    ...options,
  });
  const crossed: string[] = [];
  limiter.onDecision(({ action, name, key, level }: DecisionEvent) => {
    if (action === "warn") crossed.push(`${level} of ${name} of ${key}`);
  });
  return { limiter, crossed };
}

type Limiter = ReturnType<typeof open>["limiter"];
type Verbs = Pick<
  Limiter,
  "limit" | "charge" | "settle" | "release" | "limitAll" | "limitFirst" | "check"
>;

const key = "ann";
const hold = { for: MINUTE, then: "keep" } as const;

/** Each crosses one level, by one call that is decided in its own way. */
const crossings: [
  title: string,
  limit: keyof typeof limits,
  run: (on: Verbs) => Promise<unknown>,
][] = [
  ["limit", "window", (on) => on.limit("window", { key, count: 6 })],
  ["limit with an id", "window", (on) => on.limit("window", { key, count: 6, once: "job" })],
  ["limit with atLeast", "window", (on) => on.limit("window", { key, count: 6, atLeast: 1 })],
  ["limit with a hold", "held", (on) => on.limit("held", { key, count: 6, once: "job", hold })],
  ["limit with usage", "counted", (on) => on.limit("counted", { key, count: 6 })],
  ["charge", "window", (on) => on.charge("window", { key, count: 6 })],
  ["settle", "window", async (on) => on.settle(await on.limit("window", { key, count: 1 }), 6)],
  [
    "limitAll",
    "window",
    (on) =>
      on.limitAll([
        { name: "window", key, count: 6 },
        { name: "other", key },
      ]),
  ],
  ["limitFirst", "window", (on) => on.limitFirst(["window", "other"], { key, count: 6 })],
];

describe("onDecision", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it.each(crossings)("hears once of a level that is crossed by %s", async (_, name, run) => {
    const { limiter, crossed } = open();
    await run(limiter);
    expect(crossed).toEqual([`0.5 of ${name} of ann`]);
  });

  it.each(crossings)(
    "hears once, after the commit, with %s in a transaction",
    async (_, name, run) => {
      const { limiter, crossed } = open();
      await limiter.transaction(async (scope) => {
        await run(scope);
        expect(crossed).toEqual([]);
      });
      expect(crossed).toEqual([`0.5 of ${name} of ann`]);
    },
  );

  it.each(crossings)("hears once with %s in a caller's own transaction", async (_, name, run) => {
    const { limiter, crossed } = open();
    await limiter.transaction(({ tx }) => run(limiter.using(tx)));
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    expect(crossed).toEqual([`0.5 of ${name} of ann`]);
  });

  it("hears of a level that is crossed together with a limit that does not limit the key", async () => {
    const { limiter, crossed } = open();
    await limiter.overrides.set("other", { key, unlimited: true });
    const items = [
      { name: "window", key, count: 6 },
      { name: "other", key },
    ] as const;
    await limiter.limitAll(items);
    expect(crossed).toEqual(["0.5 of window of ann"]);
  });

  it("hears of no level of calls that were rolled back, or that were denied or checked", async () => {
    const { limiter, crossed } = open();
    const failed = limiter.transaction(async ({ limit }) => {
      await limit("window", { key, count: 6 });
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    await limiter.check("window", { key, count: 6 });
    await limiter.limit("window", { key, count: 11 }).catch(() => {});
    expect(crossed).toEqual([]);
  });

  it("hears of no level of a call that an outage lets through, because it may have crossed none", async () => {
    const store = memoryStore();
    const failing = {
      ...store,
      submit: undefined as never,
      async apply(...of: Parameters<typeof store.apply>) {
        for (const each of of[0]) each.decide(each.rows.map(() => null));
        throw new RateLimitStoreError("the connection was lost");
      },
    };
    const { limiter, crossed } = open({ store: failing, whenStoreFails: "allow" });
    const result = await limiter.limit("window", { key, count: 6, once: "job" });
    expect(result).toMatchObject({ ok: true });
    expect(await limiter.warnings("window")).toEqual([]);
    expect(crossed).toEqual([]);
  });
});
