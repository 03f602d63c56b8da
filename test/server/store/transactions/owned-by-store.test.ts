import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, DAY, isRateLimitError } from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";

const limits = {
  posts: { kind: "fixed window", rate: 20, period: DAY, start: 0 },
  comments: { kind: "fixed window", rate: 20, period: DAY, start: 0 },
  left: { kind: "fixed window", rate: 1000, period: DAY, start: 0 },
  right: { kind: "fixed window", rate: 1000, period: DAY, start: 0 },
} as const;

describe.each(stores)("transaction on %s", (_name, open) => {
  async function setUp() {
    const opened = await open();
    const clock = createManualClock();
    return {
      limiter: createRateLimiter({ store: opened.store, clock, limits }),
      peer: createRateLimiter({ store: opened.peer, clock, limits }),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  it("commits its takes, and reads its own writes before the commit", async () => {
    await using setting = await setUp();
    const { limiter } = setting;
    const left = await limiter.transaction(async ({ limit, check, refund }) => {
      await limit("posts", { count: 5 });
      await refund("posts", { count: 1 });
      expect(await check("posts")).toMatchObject({ ok: true, value: 15 });
      return (await limit("comments")).value;
    });
    expect(left).toBe(19);
    expect((await limiter.getValue("posts")).value).toBe(16);
    expect((await limiter.getValue("comments")).value).toBe(19);
  });

  it("gives the tokens back when it throws, and rethrows without trying again", async () => {
    await using setting = await setUp();
    const { limiter } = setting;
    let runs = 0;
    const failing = limiter.transaction(async ({ limit }) => {
      runs++;
      await limit("posts", { count: 5 });
      throw new Error("not today");
    });
    await expect(failing).rejects.toThrow("not today");
    expect(runs).toBe(1);
    expect((await limiter.getValue("posts")).value).toBe(20);
    const denied: unknown = await limiter
      .transaction(async ({ limit }) => {
        await limit("posts", { count: 20 });
        await limit("posts", { throws: true });
      })
      .catch((error: unknown) => error);
    expect(isRateLimitError(denied)).toBe(true);
    expect((await limiter.getValue("posts")).value).toBe(20);
  });

  it("neither loses nor doubles takes when many callers take two limits in opposite orders", async () => {
    await using setting = await setUp();
    const { limiter, peer } = setting;
    const names = ["posts", "comments"] as const;
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        (i % 2 === 0 ? limiter : peer)
          .transaction(
            async ({ limit }) => {
              const [first, second] = i % 4 < 2 ? names : names.toReversed();
              await limit(first!, { throws: true });
              await limit(second!, { throws: true });
              if (i % 3 === 0) throw new Error("rolled back");
            },
            { retryFor: 15_000, maxWait: 10_000, timeout: 10_000 },
          )
          .then(
            () => "committed",
            (error: Error) => error.message,
          ),
      ),
    );
    expect(outcomes.toSorted()).toEqual([
      ...Array<string>(8).fill("committed"),
      ...Array<string>(4).fill("rolled back"),
    ]);
    for (const name of names) expect((await limiter.getValue(name)).value).toBe(12);
  });

  it("charges each commit once, if concurrent calls in the function meet deadlocks", async () => {
    await using setting = await setUp();
    const names = ["left", "right"] as const;
    let committed = 0;
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const order = i % 2 === 0 ? names : names.toReversed();
        for (let turn = 0; turn < 5; turn++) {
          await [setting.limiter, setting.peer][i % 2]!.transaction(
            ({ limit }) => Promise.all(order.map((name) => limit(name))),
            { retryFor: 15_000, maxWait: 10_000, timeout: 10_000 },
          );
          committed++;
        }
      }),
    );
    expect(committed).toBe(40);
    for (const name of names) {
      expect((await setting.limiter.getValue(name)).value).toBe(1000 - 40);
    }
  });

  it("charges nothing after its function has thrown, although a call in it was under way", async () => {
    await using setting = await setUp();
    const { limiter } = setting;
    await limiter.limit("posts");
    const calls: Promise<unknown>[] = [];
    for (let i = 0; i < 5; i++) {
      const failing = limiter.transaction(async ({ limit, limitAll }) => {
        const both = limitAll([{ name: "posts" }, { name: "comments" }]);
        calls.push(both, limit("posts"));
        for (const call of calls) call.catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, i));
        throw new Error("not today");
      });
      await expect(failing).rejects.toThrow("not today");
    }
    await Promise.allSettled(calls);
    expect((await limiter.getValue("posts")).value).toBe(19);
    expect((await limiter.getValue("comments")).value).toBe(20);
  });

  it("is exact together with calls outside a transaction", async () => {
    await using setting = await setUp();
    const { limiter, peer } = setting;
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        i % 8 === 0
          ? limiter.transaction(({ limit }) => limit("posts"), { maxWait: 10_000 })
          : [limiter, peer][i % 2]!.limit("posts"),
      ),
    );
    expect(results.filter(({ ok }) => ok)).toHaveLength(20);
    expect((await limiter.getValue("posts")).value).toBe(0);
  });
});
