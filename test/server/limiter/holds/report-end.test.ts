/** The usage of holds is counted in the decisions that take and end them. */
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true, usage: true },
  credits: { kind: "credits", holds: true, usage: true },
} as const;
const key = "user 1|a\\";
const keep = { for: 10 * MINUTE, then: "keep" } as const;
const release = { for: 10 * MINUTE, then: "release" } as const;

describe.each(storesAndRedis)("the usage of holds on %s", (_, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits);
    /** As the table has it, without what any process has summed up. */
    const counted = async (name: "quota" | "credits" = "quota") => {
      const from = at.clock() - (at.clock() % HOUR) - 24 * HOUR;
      const { total } = await at.peer.usage(name, { key, from, to: from + 25 * HOUR });
      return [total.granted, total.taken, total.givenBack];
    };
    return { ...at, counted };
  }

  it("is there with the decision, before any process writes its sums", async () => {
    const at = await setUp();
    await at.limiter.limit("quota", { key, count: 60, once: "a", hold: keep });
    expect(await at.counted()).toEqual([1, 60, 0]);
    await at.limiter.limit("quota", { key, count: 60, once: "a", hold: keep });
    await at.limiter.settle("quota", { key, once: "a" }, 25);
    expect(await at.counted()).toEqual([1, 60, 35]);
    await at.limiter.limit("quota", { key, count: 10, once: "b", hold: keep });
    await at.limiter.settle("quota", { key, once: "b" }, 15);
    await at.limiter.limit("quota", { key, count: 10, once: "c", hold: keep });
    await at.limiter.release("quota", { key, once: "c" });
    expect(await at.counted()).toEqual([3, 85, 45]);
    await at.limiter.flushUsage();
    expect(await at.counted()).toEqual([3, 85, 45]);
    const from = at.clock() - (at.clock() % HOUR);
    const all = await at.limiter.usage("quota", { from, to: from + HOUR });
    expect(all.total).toMatchObject({ granted: 3, taken: 85, givenBack: 45 });
  });

  it("counts what comes back of holds that lapse", async () => {
    const at = await setUp();
    await at.limiter.limit("quota", { key, count: 30, once: "a", hold: release });
    await at.limiter.limit("quota", { key, count: 30, once: "b", hold: keep });
    await at.limiter.limit("quota", { key, count: 40, once: "c", hold: release });
    at.clock.advance(10 * MINUTE);
    expect(await at.limiter.release("quota", { key, once: "c" })).toMatchObject({
      reason: "given back",
    });
    expect(await at.counted()).toEqual([3, 100, 40]);
    expect(await at.limiter.limit("quota", { key, count: 71 })).toMatchObject({ ok: false });
    expect(await at.counted()).toEqual([3, 100, 70]);
    await at.limiter.credit("credits", { key, count: 50 });
    await at.limiter.limit("credits", { key, count: 50, once: "a", hold: release });
    at.clock.advance(10 * MINUTE);
    await at.peer.prune();
    expect(await at.counted("credits")).toEqual([1, 50, 50]);
  });

  it("of several limits counts for each of them", async () => {
    const at = await setUp();
    await at.limiter.credit("credits", { key, count: 50 });
    const options = { key, count: 120, split: true, once: "a", hold: keep } as const;
    await at.limiter.limitFirst(["quota", "credits"], options);
    expect(await at.counted("credits")).toEqual([1, 20, 0]);
    await at.limiter.settle(["quota", "credits"], { key, once: "a" }, 130);
    expect(await at.counted("quota")).toEqual([1, 110, 0]);
    const items = [{ name: "credits", key, count: 5 }] as const;
    await at.limiter.limitAll(items, { once: "b", hold: keep });
    expect(await at.counted("credits")).toEqual([2, 25, 0]);
  });
});
