/** `limit` with `atLeast`: as many tokens as fit. */
import { beforeEach, describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  HOUR,
  isRateLimitError,
  memoryStore,
  MINUTE,
  type RateLimitResult,
  RateLimitStoreError,
  SECOND,
} from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  bucket: { kind: "token bucket", rate: 10, period: 10 * SECOND },
  window: { kind: "fixed window", rate: 10, period: HOUR, start: 0 },
  months: { kind: "fixed window", rate: 10, period: "month", start: 0 },
  days: { kind: "fixed window", rate: 10, period: "day", timeZone: "Asia/Kolkata" },
  credits: { kind: "credits" },
  sharded: { kind: "token bucket", rate: 12, period: DAY, shards: 3 },
  closing: { kind: "token bucket", rate: 10, period: 10 * DAY, blockFor: [HOUR, 2 * HOUR] },
  leased: { kind: "token bucket", rate: 1000, period: MINUTE, lease: { ms: 1000 } },
  remembered: { kind: "token bucket", rate: 10, period: DAY, rememberDenials: HOUR },
  shadow: { kind: "token bucket", rate: 10, period: DAY, shadow: true, usage: true },
  held: { kind: "token bucket", rate: 10, period: DAY, holds: true, usage: true },
  counted: { kind: "token bucket", rate: 10, period: DAY, usage: true },
} as const;
const key = "user 1|a\\";
const today = (now: number) => {
  const from = Math.floor(now / DAY) * DAY;
  return { from, to: from + DAY };
};

describe.each(storesAndRedis)("limit with atLeast on %s", (_name, open) => {
  const setUp = () => twoProcesses(open, limits);

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it("grants what is there, up to the count, and says how many", async () => {
    const call = (count: number) => at.limiter.limit("bucket", { key, count, atLeast: 1 });
    expect(await call(4)).toMatchObject({ ok: true, granted: 4, value: 6 });
    expect(await call(50)).toMatchObject({ ok: true, granted: 6, value: 0 });
    expect(await call(50)).toEqual({ ok: false, retryAfter: SECOND, value: 0 });
    at.clock.advance(SECOND - 1);
    expect(await call(50)).toMatchObject({ ok: false, retryAfter: 1 });
    at.clock.advance(1);
    expect(await call(50)).toMatchObject({ ok: true, granted: 1, value: 0 });
  });

  it("denies a call for which fewer than atLeast are there, until they are", async () => {
    await at.limiter.limit("bucket", { key, count: 7 });
    const options = { key, count: 9, atLeast: 5 };
    expect(await at.limiter.limit("bucket", options)).toEqual({
      ok: false,
      retryAfter: 2 * SECOND,
      value: 3,
    });
    at.clock.advance(2 * SECOND);
    expect(await at.limiter.limit("bucket", options)).toMatchObject({ ok: true, granted: 5 });
  });

  it("grants whole tokens, and parts of tokens to a call that wants parts", async () => {
    await at.limiter.limit("bucket", { key, count: 7.5 });
    const checked = (count: number, atLeast: number) =>
      at.limiter.check("bucket", { key, count, atLeast });
    expect(await checked(5, 1)).toMatchObject({ ok: true, granted: 2, value: 0.5 });
    expect(await checked(5, 0.5)).toMatchObject({ ok: true, granted: 2.5, value: 0 });
    expect(await checked(5.5, 1)).toMatchObject({ ok: true, granted: 2.5, value: 0 });
    expect(await checked(5, 3)).toEqual({ ok: false, retryAfter: SECOND / 2, value: 2.5 });
  });

  it.each(["window", "months", "days"] as const)("gives the rest of the %s", async (name) => {
    const options = { key, count: 7, atLeast: 2 };
    expect(await at.limiter.limit(name, options)).toMatchObject({ granted: 7, value: 3 });
    expect(await at.peer.limit(name, options)).toMatchObject({ granted: 3, value: 0 });
    const denied = await at.limiter.limit(name, options);
    at.clock.advance(denied.retryAfter!);
    expect(await at.limiter.limit(name, options)).toMatchObject({ granted: 7, value: 3 });
  });

  it("gives the credits that are left", async () => {
    await at.limiter.credit("credits", { key, count: 7 });
    const options = { key, count: 5, atLeast: 1 };
    expect(await at.limiter.limit("credits", options)).toMatchObject({ granted: 5, value: 2 });
    expect(await at.limiter.limit("credits", options)).toMatchObject({ granted: 2, value: 0 });
    expect(await at.limiter.limit("credits", options)).toMatchObject({ ok: false });
  });

  it("gives the tokens of two shards, and says where they are from", async () => {
    const options = { key, count: 100, atLeast: 1 };
    const first = await at.limiter.limit("sharded", options);
    expect(first).toMatchObject({ ok: true, granted: 8, value: 0 });
    const counts = (first as { shards?: { count: number }[] }).shards!.map(({ count }) => count);
    expect(counts).toEqual([4, 4]);
    let granted = first.ok ? first.granted : 0;
    for (let i = 0; i < 50; i++) {
      const next = await at.limiter.limit("sharded", options);
      if (next.ok) granted += next.granted;
    }
    expect(granted).toBe(12);
    await at.limiter.settle(first, 3);
    expect((await at.limiter.getValue("sharded", { key })).value).toBe(5);
  });

  it("closes a bucket when it denies, and not when it grants a part", async () => {
    const other = "of calls without atLeast";
    const both = async (atLeast: number) => {
      const options = { key, count: 50, atLeast };
      const answer = await at.limiter.limit("closing", options);
      const same = await at.limiter.limit("closing", { key: other, count: atLeast });
      expect([answer.ok, answer.retryAfter]).toEqual([same.ok, same.retryAfter]);
      return answer;
    };
    for (const of of [key, other]) await at.limiter.limit("closing", { key: of, count: 8 });
    const most = { key, count: 50, atLeast: 3 };
    expect(await at.limiter.check("closing", most)).toMatchObject({ ok: false, retryAfter: DAY });
    expect(await both(2)).toMatchObject({ ok: true, granted: 2 });
    expect(await both(1)).toMatchObject({ ok: false });
    expect(await at.limiter.getValue("closing", { key })).toMatchObject({ value: 0 });
    // The next closings are longer.
    for (let i = 0; i < 5; i++) {
      at.clock.advance(HOUR);
      expect(await both(9)).toMatchObject({ ok: false });
    }
  });

  it("leaves nothing to calls that want more, however many there are at a time", async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_each, i) => {
        const limiter = i % 2 === 0 ? at.limiter : at.peer;
        return limiter.limit("window", { key, count: 3, atLeast: 1 });
      }),
    );
    const granted = answers.map((answer) => (answer.ok ? answer.granted : 0));
    expect(granted.reduce((sum, each) => sum + each, 0)).toBe(10);
    expect(granted.toSorted((a, b) => b - a).slice(0, 4)).toEqual([3, 3, 3, 1]);
  });

  it("asks the row where the limit has a lease", async () => {
    await at.peer.limit("leased", { key });
    const { value } = await at.limiter.getValue("leased", { key });
    const all = await at.limiter.limit("leased", { key, count: 1000, atLeast: 1 });
    expect(all).toMatchObject({ ok: true, granted: value, value: 0 });
  });

  it("is not denied from memory, where a denial of another count is known", async () => {
    await at.limiter.limit("remembered", { key, count: 4 });
    expect(await at.limiter.limit("remembered", { key, count: 9 })).toMatchObject({ ok: false });
    const options = { key, count: 9, atLeast: 1 };
    expect(await at.limiter.limit("remembered", options)).toMatchObject({ granted: 6 });
    expect(await at.limiter.limit("remembered", { key, count: 1 })).toMatchObject({ ok: false });
  });

  it("lets a call past a shadow have all of its tokens, and says what it would have got", async () => {
    const options = { key, count: 7, atLeast: 2 };
    const whole = await at.limiter.limit("shadow", options);
    expect(whole).toMatchObject({ ok: true, granted: 7 });
    expect(whole).not.toHaveProperty("shadow");
    const part = await at.limiter.limit("shadow", options);
    const shadow = { ok: true, retryAfter: 0, granted: 3 };
    expect(part).toMatchObject({ ok: true, granted: 7, value: 0, shadow });
    const none = await at.limiter.limit("shadow", options);
    expect(none).toMatchObject({ ok: true, granted: 7, shadow: { ok: false } });
    // The shadow took 7 and 3. Of the second call, 5 were used, and of the third one 1.
    await at.limiter.settle(part, 5);
    await at.limiter.settle(none, 1);
    expect((await at.limiter.getValue("shadow", { key })).value).toBe(-2);
    const { total } = await at.limiter.usage("shadow", { key, ...today(at.clock()) });
    expect(total.taken - total.givenBack).toBe(7 + 5 + 1);
  });

  it("throws a denial where that was asked for", async () => {
    const options = { key, count: 50, atLeast: 10, throws: true };
    expect(await at.limiter.limit("window", options)).toMatchObject({ granted: 10 });
    const denial = await at.limiter.limit("window", options).catch((error: unknown) => error);
    expect(isRateLimitError(denial) && denial.data.rateLimit).toMatchObject({ name: "window" });
  });

  it("repeats how many an id was granted, in every process", async () => {
    await at.limiter.limit("window", { key, count: 6 });
    const options = { key, count: 7, atLeast: 1, once: "a" };
    const first = await at.limiter.limit("window", options);
    expect(first).toMatchObject({ ok: true, granted: 4, value: 0 });
    for (const limiter of [at.peer, at.limiter]) {
      const again = await limiter.limit("window", { ...options, count: 3 });
      expect(again).toEqual({ ...first, repeated: true });
      expect(await limiter.check("window", options)).toEqual(again);
    }
    // All came back, so the id is forgotten.
    await at.limiter.settle(first, 0);
    expect(await at.peer.limit("window", { ...options, count: 2 })).toMatchObject({ granted: 2 });
    const again = await at.peer.limit("window", options);
    expect(again).toMatchObject({ granted: 2, repeated: true });
  });

  it("repeats the count of a call that got its whole count", async () => {
    const options = { key, count: 5, once: "a" };
    await at.limiter.limit("window", options);
    const again = await at.peer.limit("window", { ...options, atLeast: 1 });
    expect(again).toMatchObject({ granted: 5, repeated: true, value: 5 });
    expect(await at.peer.limit("window", options)).not.toHaveProperty("granted");
  });

  it("holds what was granted, and settles it by its id or by its result", async () => {
    const hold = { for: HOUR, then: "keep" } as const;
    await at.limiter.limit("held", { key, count: 4 });
    const call = { key, count: 50, atLeast: 1, hold };
    const first = await at.limiter.limit("held", { ...call, once: "a" });
    expect(first).toMatchObject({ ok: true, granted: 6, value: 0 });
    expect(await at.peer.getValue("held", { key })).toMatchObject({ value: 0, held: 6 });
    const settled = await at.peer.settle("held", { key, once: "a" }, 2);
    expect(settled).toMatchObject({ settled: true, count: 6, value: 4 });
    const again = await at.limiter.limit("held", { ...call, once: "a" });
    expect(again).toMatchObject({ granted: 6, repeated: true });
    const second = await at.limiter.limit("held", { ...call, once: "b" });
    expect(second).toMatchObject({ granted: 4 });
    await at.limiter.settle(second, 1);
    expect((await at.limiter.getValue("held", { key })).value).toBe(3);
    const { total } = await at.limiter.usage("held", { key, ...today(at.clock()) });
    expect(total).toMatchObject({ granted: 3, taken: 14, givenBack: 7 });
  });

  it("takes the tokens of holds that have lapsed", async () => {
    const hold = { for: MINUTE, then: "release" } as const;
    await at.limiter.limit("held", { key, count: 3, once: "a", hold });
    await at.limiter.limit("held", { key, count: 7 });
    const options = { key, count: 50, atLeast: 2 };
    expect(await at.limiter.limit("held", options)).toMatchObject({
      ok: false,
      retryAfter: MINUTE,
    });
    at.clock.advance(MINUTE);
    expect(await at.peer.limit("held", options)).toMatchObject({ ok: true, granted: 3 });
  });

  it("gives back no more than was granted", async () => {
    await at.limiter.limit("window", { key, count: 4 });
    const result = await at.limiter.limit("window", { key, count: 50, atLeast: 1 });
    await at.limiter.refund("window", { key, result, count: 2 });
    await at.limiter.refund("window", { key, result, count: 50 });
    expect((await at.limiter.getValue("window", { key })).value).toBe(6);
    const next = await at.limiter.limit("window", { key, count: 3, atLeast: 1 });
    // Others took more: the copy knows how many its own call took.
    await at.limiter.limit("window", { key, count: 3 });
    const copy = JSON.parse(JSON.stringify(next)) as RateLimitResult;
    await at.limiter.refund("window", { key, result: copy, count: 50 });
    expect((await at.limiter.getValue("window", { key })).value).toBe(3);
  });

  it("counts what was granted as use", async () => {
    const options = { key, count: 7, atLeast: 2 };
    for (let i = 0; i < 3; i++) await at.limiter.limit("counted", options);
    const { total } = await at.limiter.usage("counted", { key, ...today(at.clock()) });
    expect(total).toEqual({ granted: 2, denied: 1, taken: 10, givenBack: 0 });
    const counts = at.events.map(({ count, result }) => [count, result.ok && result.granted]);
    expect(counts).toEqual([
      [7, 7],
      [3, 3],
      [7, false],
    ]);
  });
});

describe.each(stores)("limit with atLeast in a transaction on %s", (_name, open) => {
  it("commits what was granted, or rolls it back", async () => {
    const at = await twoProcesses(open, limits);
    const options = { key, count: 7, atLeast: 1 };
    await at.limiter.transaction(async ({ limit }) => {
      expect(await limit("window", options)).toMatchObject({ granted: 7 });
    });
    const failing = at.limiter.transaction(async ({ limit, settle }) => {
      const result = await limit("window", options);
      expect(result).toMatchObject({ granted: 3, value: 0 });
      await settle(result, 1);
      expect(await limit("window", options)).toMatchObject({ granted: 2 });
      throw new Error("roll back");
    });
    await expect(failing).rejects.toThrow("roll back");
    expect(await at.limiter.limit("window", options)).toMatchObject({ granted: 3 });
  });
});

describe("atLeast", () => {
  it("grants the whole count where an override or a plan lets every call pass", async () => {
    const store = memoryStore();
    const planned = createRateLimiter({
      store,
      plans: ["free", "paid", "none"],
      limits: {
        draw: {
          kind: "token bucket",
          period: DAY,
          plans: { free: 5, paid: "unlimited", none: "none" },
        },
      },
      overrides: true,
    });
    const call = (plan: "free" | "paid" | "none") =>
      planned.limit("draw", { key, plan, count: 1e6, atLeast: 1 });
    expect(await call("paid")).toMatchObject({ ok: true, granted: 1e6 });
    expect(await call("free")).toMatchObject({ ok: true, granted: 5 });
    expect(await call("none")).toMatchObject({ ok: false });
    await planned.overrides.set("draw", { key, unlimited: true });
    expect(await call("free")).toMatchObject({ ok: true, granted: 1e6 });
    await planned.overrides.set("draw", { key, blocked: true });
    expect(await call("free")).toMatchObject({ ok: false });
  });

  it("grants the whole count in an outage that lets calls through", async () => {
    const limiter = createRateLimiter({
      store: { apply: () => Promise.reject(new RateLimitStoreError("the database is down")) },
      limits: { open: { kind: "token bucket", rate: 5, period: DAY, whenStoreFails: "allow" } },
      logger: false,
    });
    const result = await limiter.limit("open", { count: 7, atLeast: 1 });
    expect(result).toMatchObject({ ok: true, granted: 7, storeFailed: true });
  });
});
