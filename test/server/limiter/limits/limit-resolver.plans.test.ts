/** The plans of a limiter decide how much each key may use, on the same row for every plan of a call. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  MINUTE,
  type RateLimitStore,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";

const ada = { key: "ada" } as const;

function limiterOf(store: RateLimitStore, clock: () => number) {
  return createRateLimiter({
    store,
    clock,
    overrides: true,
    overridesFor: 0,
    plans: ["free", "pro"],
    limits: {
      pictures: {
        kind: "fixed window",
        period: DAY,
        start: 0,
        holds: true,
        plans: { free: 5, pro: 50 },
      },
      calls: {
        kind: "token bucket",
        period: MINUTE,
        shards: 4,
        plans: { free: { rate: 10, capacity: 40 }, pro: { rate: 100, capacity: 400 } },
      },
      minutes: { kind: "token bucket", period: MINUTE, plans: { free: 10, pro: 100 } },
      videos: { kind: "fixed window", period: DAY, plans: { free: "none", pro: "unlimited" } },
      renders: { kind: "concurrency", plans: { free: 1, pro: 3 } },
      credits: { kind: "credits", holds: true },
      signUps: { kind: "fixed window", rate: 3, period: HOUR },
    },
  });
}

async function opened(open: (typeof storesAndRedis)[number][1]) {
  const { store, peer, [Symbol.asyncDispose]: close } = await open();
  const clock = createManualClock(20_000 * DAY + 10 * HOUR);
  return {
    clock,
    limiter: limiterOf(store, clock),
    other: limiterOf(peer, clock),
    [Symbol.asyncDispose]: close,
  };
}

describe.each(storesAndRedis)("plans, on %s", (name, open) => {
  it("leave 45 of 50 after an upgrade, with late calls by the old plan from another process", async () => {
    await using at = await opened(open);
    const free = { ...ada, plan: "free" } as const;
    const pro = { ...ada, plan: "pro" } as const;
    for (let i = 0; i < 5; i++)
      expect(await at.limiter.limit("pictures", free)).toMatchObject({ ok: true });
    expect(await at.limiter.limit("pictures", free)).toMatchObject({ ok: false, value: 0 });
    expect((await at.other.getValue("pictures", pro)).value).toBe(45);
    expect(await at.limiter.limit("pictures", { ...pro, count: 15 })).toMatchObject({ value: 30 });
    for (let i = 0; i < 3; i++) expect((await at.other.limit("pictures", free)).ok).toBe(false);
    expect(await at.other.check("pictures", { ...pro, count: 30 })).toMatchObject({ ok: true });
    at.clock.advance(DAY);
    expect((await at.limiter.getValue("pictures", free)).value).toBe(5);
    expect((await at.limiter.getValue("pictures", pro)).value).toBe(50);
  });

  it("take from several limits at once, each by its plan, or by none", async () => {
    await using at = await opened(open);
    const items = [
      { name: "pictures", ...ada, plan: "free" },
      { name: "signUps", ...ada },
      { name: "calls", ...ada, plan: "pro", count: 20 },
    ] as const;
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await at.limiter.limitAll(items));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, false]);
    expect(answers[3]).toMatchObject({ name: "signUps" });
    expect((await at.limiter.getValue("pictures", { ...ada, plan: "free" })).value).toBe(2);
    expect((await at.limiter.getValue("calls", { ...ada, plan: "pro" })).value).toBe(340);
  });

  it("pay before the credits, which have no plan", async () => {
    await using at = await opened(open);
    await at.limiter.credit("credits", { ...ada, count: 10 });
    const of = { ...ada, plan: "free", count: 7, split: true, once: "a" } as const;
    const hold = { for: HOUR, then: "release" } as const;
    const paid = await at.limiter.limitFirst(["pictures", "credits"], { ...of, hold });
    expect(paid).toMatchObject({ ok: true, paid: [{ name: "pictures", count: 5 }, { count: 2 }] });
    const names = ["pictures", "credits"] as const;
    // By another process, which is told the plan, and one that is told nothing.
    const settled = await at.other.settle(names, { ...ada, once: "a", plan: "pro" }, 6);
    expect(settled).toMatchObject({ settled: true, count: 7 });
    expect((await at.limiter.getValue("credits", ada)).value).toBe(9);
    expect((await at.limiter.getValue("pictures", { ...ada, plan: "free" })).value).toBe(0);
  });

  it("settle and release a hold without a plan, to the token", async () => {
    await using at = await opened(open);
    const hold = { for: HOUR, then: "keep" } as const;
    await at.limiter.limit("pictures", { ...ada, plan: "pro", count: 30, once: "job", hold });
    expect(await at.other.settle("pictures", { ...ada, once: "job" }, 12)).toMatchObject({
      settled: true,
    });
    expect((await at.limiter.getValue("pictures", { ...ada, plan: "pro" })).value).toBe(38);
    await at.limiter.limit("pictures", { ...ada, plan: "pro", count: 8, once: "second", hold });
    expect(await at.other.release("pictures", { ...ada, once: "second" })).toMatchObject({
      released: true,
    });
    expect((await at.limiter.getValue("pictures", { ...ada, plan: "pro" })).value).toBe(38);
  });

  it("let every call pass, or none, where that is what a plan has", async () => {
    await using at = await opened(open);
    const { limiter } = at;
    const denied = { ok: false, retryAfter: 8e15, value: 0 };
    expect(await limiter.limit("videos", { ...ada, plan: "free" })).toEqual(denied);
    expect(await limiter.limit("videos", { ...ada, plan: "pro", count: 1e6 })).toMatchObject({
      ok: true,
    });
    const both = [
      { name: "videos", ...ada, plan: "free" },
      { name: "signUps", ...ada },
    ] as const;
    expect(await limiter.limitAll(both)).toMatchObject({ ok: false, name: "videos" });
    expect((await limiter.getValue("signUps", ada)).value).toBe(3);
    const [none, all] = await limiter.snapshots([
      { name: "videos", ...ada, plan: "free" },
      { name: "videos", ...ada, plan: "pro" },
    ]);
    expect(none).toMatchObject({ plan: "free", value: 0 });
    expect(all).toMatchObject({ plan: "pro", config: { shadow: true } });
  });

  it("have as many slots as they say, of the same slots", async () => {
    await using at = await opened(open);
    const enter = (plan: "free" | "pro") => at.limiter.enter("renders", { ...ada, plan });
    const entered = [await enter("free"), await enter("free"), await enter("pro")];
    expect(entered.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect((await at.other.getValue("renders", { ...ada, plan: "pro" })).value).toBe(1);
    for (const slot of entered) if (slot.ok) await slot.release();
    expect((await at.other.getValue("renders", { ...ada, plan: "free" })).value).toBe(1);
  });

  it("are tried for a time by an override, of one limit or of several", async () => {
    await using at = await opened(open);
    const free = { ...ada, plan: "free" } as const;
    await at.limiter.limit("pictures", { ...free, count: 5 });
    const until = at.clock() + 12 * HOUR;
    await at.limiter.overrides.set(["pictures", "videos"], { ...ada, plan: "pro", until });
    expect(await at.other.limit("pictures", { ...free, count: 30 })).toMatchObject({ value: 15 });
    expect(await at.other.limit("videos", free)).toMatchObject({ ok: true });
    const { items } = await at.other.list("pictures", { plan: "free" });
    expect(items).toMatchObject([
      { key: "ada", plan: "pro", value: 15, override: { plan: "pro" } },
    ]);
    await at.other.overrides.clear("pictures", ada);
    expect(await at.limiter.limit("pictures", free)).toMatchObject({ ok: false });
    at.clock.advance(12 * HOUR);
    expect(await at.limiter.limit("videos", free)).toMatchObject({ ok: false, retryAfter: 8e15 });
  });

  it("are multiplied by an override, each by its own rate", async () => {
    await using at = await opened(open);
    await at.limiter.overrides.set("pictures", { times: 2 });
    const left = async (plan: "free" | "pro") =>
      (await at.other.getValue("pictures", { ...ada, plan })).value;
    expect([await left("free"), await left("pro")]).toEqual([10, 100]);
    await at.limiter.overrides.set("videos", { times: 2 });
    expect(await at.other.limit("videos", { ...ada, plan: "free" })).toMatchObject({ ok: false });
  });

  it("keep a row until it is full by the slowest of them", async ({ skip }) => {
    skip(
      name === "Redis",
      "Redis ends a row itself, when it is full by the plan that has written it",
    );
    await using at = await opened(open);
    await at.limiter.limit("minutes", { key: "small", plan: "free", count: 10 });
    await at.limiter.limit("minutes", { key: "large", plan: "pro", count: 100 });
    at.clock.advance(3 * MINUTE);
    // Full for the plan that has taken them, and not yet for the one that refills more slowly.
    expect((await at.other.getValue("minutes", { key: "large", plan: "pro" })).value).toBe(100);
    expect(await at.limiter.prune()).toBe(1);
    at.clock.advance(10 * MINUTE);
    expect(await at.limiter.prune()).toBe(1);
  });
});
