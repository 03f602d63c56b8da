/** The names by which a hold of several limits is ended, and what each limit then loses. */
import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE, RateLimitInputError } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  day: { kind: "fixed window", rate: 5000, period: "day", timeZone: "UTC", holds: true },
  month: { kind: "fixed window", rate: 5000, period: "month", start: 0, holds: true },
  tokens: { kind: "token bucket", rate: 5000, period: MINUTE, holds: true },
  credits: { kind: "credits", holds: true },
  requests: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;
const key = "member";
const of = { key, once: "job" } as const;
const hold = { for: 10 * MINUTE, then: "keep" } as const;
const both = ["day", "month"] as const;
const INCOMPLETE = /the hold of this id is of 2 limits, and only 1 of them was named/;

describe.each(storesAndRedis)("the hold of several limits on %s", (_, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits);
    type Name = Exclude<keyof typeof limits, "requests">;
    const used = async (name: Name, whose: string = key) => {
      const { value, held } = await at.limiter.getValue(name, { key: whose });
      return [name === "credits" ? value : 5000 - value, held];
    };
    const holdBoth = () =>
      at.limiter.limitAll(
        both.map((name) => ({ name, key, count: 3000 })),
        { once: "job", hold },
      );
    return { ...at, used, holdBoth };
  }

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it.each([1200, 4000])("is settled in each of them by what was used, %d", async (actual) => {
    await at.holdBoth();
    const settled = await at.peer.settle(both, of, actual);
    expect(settled).toEqual({ settled: true, count: 3000, value: 5000 - actual });
    for (const name of both) expect(await at.used(name)).toEqual([actual, 0]);
    const again = await at.peer.settle(both, of, 1);
    expect(again).toEqual({ settled: false, reason: "settled" });
  });

  it("is settled by a count of each, where they count in different units", async () => {
    await at.holdBoth();
    await at.peer.settle(both, of, { day: 1200, month: 4 });
    expect(await at.used("day")).toEqual([1200, 0]);
    expect(await at.used("month")).toEqual([4, 0]);
    await at.limiter.forget(key);
    await at.holdBoth();
    // The one of which nothing is known stays as it was estimated.
    await at.peer.settle(both, of, { day: 1200 });
    expect(await at.used("day")).toEqual([1200, 0]);
    expect(await at.used("month")).toEqual([3000, 0]);
  });

  it("stays as it was estimated, and is released, in each of them", async () => {
    await at.holdBoth();
    await at.peer.settle(both, of, undefined);
    for (const name of both) expect(await at.used(name)).toEqual([3000, 0]);
    await at.limiter.forget(key);
    await at.holdBoth();
    const released = await at.peer.release(both, of);
    expect(released).toEqual({ released: true, count: 3000, value: 5000 });
    for (const name of both) expect(await at.used(name)).toEqual([0, 0]);
  });

  it("is refused by the name of one of them, and stays", async () => {
    await at.holdBoth();
    for (const names of ["day", ["month"], ["day", "tokens"], ["day", "day"]] as const) {
      await expect(at.peer.settle(names, of, 1200)).rejects.toThrow(INCOMPLETE);
      await expect(at.peer.release(names, of)).rejects.toThrow(RateLimitInputError);
    }
    for (const name of both) expect(await at.used(name)).toEqual([3000, 3000]);
  });

  it.each([
    ["two names", "day", "month"],
    ["one name", "tokens", "tokens"],
  ] as const)("of two keys, with %s, is ended by naming both", async (__, own, shared) => {
    const items = [
      { name: own, key },
      { name: shared, key: "team" },
    ];
    await at.limiter.limitAll(
      items.map((item) => ({ ...item, count: 3000 })),
      { once: "job", hold },
    );
    await expect(at.peer.settle([own, shared], of, 1200)).rejects.toThrow(INCOMPLETE);
    await expect(at.peer.settle(own, of, 1200)).rejects.toThrow(/each with its key/);
    await at.peer.settle([own, { name: shared, key: "team" }], of, 1200);
    expect(await at.used(own)).toEqual([1200, 0]);
    expect(await at.used(shared, "team")).toEqual([1200, 0]);
  });

  it("is the sum of what they paid for one count, and the first one owes what is more", async () => {
    await at.limiter.credit("credits", { key, count: 3000 });
    const names = ["day", "credits"] as const;
    const pay = { key, count: 6000, split: true, once: "job", hold } as const;
    await at.limiter.limitFirst(names, pay);
    expect(await at.used("credits")).toEqual([2000, 1000]);
    await expect(at.peer.settle("day", of, 5500)).rejects.toThrow(INCOMPLETE);
    await expect(at.peer.settle(names, of, { day: 5000 })).rejects.toThrow(/give it as a number/);
    const settled = await at.peer.settle(names, of, 5500);
    expect(settled).toMatchObject({ settled: true, count: 6000 });
    expect(await at.used("day")).toEqual([5000, 0]);
    expect(await at.used("credits")).toEqual([2500, 0]);
    // One of them pays alone, and is enough then.
    await at.limiter.limitFirst(names, { ...pay, count: 500, once: "next" });
    expect(await at.peer.settle("credits", { key, once: "next" }, 700)).toMatchObject({
      settled: true,
      count: 500,
    });
    expect(await at.used("credits")).toEqual([1800, 0]);
  });

  it("is of those that took, and not of those that did so before or have no holds", async () => {
    await at.limiter.limit("day", { ...of, count: 1000, hold });
    const items = [
      { name: "requests", key },
      { name: "day", key, count: 3000 },
      { name: "month", key, count: 3000 },
    ] as const;
    await at.limiter.limitAll(items, { once: "job", hold });
    await at.peer.settle("month", of, 1200);
    await at.peer.settle("day", of, 800);
    expect(await at.used("month")).toEqual([1200, 0]);
    expect(await at.used("day")).toEqual([800, 0]);
  });

  it("can have been ended in part, by the result of one of them", async () => {
    const { results } = await at.holdBoth();
    await at.limiter.settle(results[0]!, 100);
    await at.peer.settle(both, of, 1200);
    expect(await at.used("day")).toEqual([100, 0]);
    expect(await at.used("month")).toEqual([1200, 0]);
  });

  it("lapses when it has to, and says so", async () => {
    await at.holdBoth();
    expect(await at.peer.holds("day", { key })).toEqual([
      { once: "job", count: 3000, then: "keep", until: at.clock() + 10 * MINUTE },
    ]);
    at.clock.advance(10 * MINUTE - 1);
    await at.peer.prune();
    expect(await at.used("day")).toEqual([3000, 3000]);
    at.clock.advance(1);
    expect(await at.peer.settle(both, of, 1)).toEqual({ settled: false, reason: "kept" });
    expect(await at.used("month")).toEqual([3000, 0]);
  });
});
