import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  changeDigest,
  type ChangeChannel,
  type ChangeListener,
  createRateLimiter,
  isRateLimitError,
  memoryStore,
  MINUTE,
  SECOND,
} from "../../../../server/index.js";

function setUp() {
  const clock = createManualClock();
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: {
      sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
      signUp: { kind: "fixed window", rate: 2, period: MINUTE },
      llmTokens: { kind: "token bucket", rate: 100, period: SECOND, maxReserved: 50 },
      never: { kind: "token bucket", rate: 1, period: SECOND, maxReserved: 0 },
    },
  });
  return { clock, limiter };
}

describe("limit", () => {
  it("takes no options from a prototype", async () => {
    const options = Object.create({ inherited: true }) as object;
    const result = await setUp().limiter.limit("sendMessage", options);
    expect(result).toMatchObject({ ok: true, value: 2 });
  });

  it("grants what the bucket holds, then denies with the exact wait, then grants again", async () => {
    const { clock, limiter } = setUp();
    expect(await limiter.limit("sendMessage", { key: "u" })).toMatchObject({ ok: true, value: 2 });
    expect(await limiter.limit("sendMessage", { key: "u" })).toMatchObject({ ok: true, value: 1 });
    expect(await limiter.limit("sendMessage", { key: "u" })).toMatchObject({ ok: true, value: 0 });
    const denied = { ok: false, retryAfter: 6000, value: 0 };
    expect(await limiter.limit("sendMessage", { key: "u" })).toEqual(denied);
    clock.advance(5999);
    expect(await limiter.limit("sendMessage", { key: "u" })).toMatchObject({ retryAfter: 1 });
    clock.advance(1);
    expect(await limiter.limit("sendMessage", { key: "u" })).toMatchObject({ ok: true, value: 0 });
  });

  it("keeps keys apart, and the shared bucket apart from all of them", async () => {
    const { limiter } = setUp();
    await limiter.limit("signUp", { key: "a", count: 2 });
    expect(await limiter.limit("signUp", { key: "a" })).toMatchObject({ ok: false });
    expect(await limiter.limit("signUp", { key: "b" })).toMatchObject({ ok: true });
    expect(await limiter.limit("signUp")).toMatchObject({ ok: true });
    expect(await limiter.limit("signUp", { count: 2 })).toMatchObject({
      ok: false,
    });
  });

  it("accepts fractions and 0 as a count", async () => {
    const { limiter } = setUp();
    expect(await limiter.limit("sendMessage", { count: 0.5 })).toMatchObject({
      ok: true,
      value: 2.5,
    });
    expect(await limiter.limit("sendMessage", { count: 0 })).toMatchObject({
      ok: true,
      value: 2.5,
    });
  });

  it("reserves up to maxReserved, and says when to do the work", async () => {
    const { clock, limiter } = setUp();
    await limiter.limit("llmTokens", { count: 100 });
    const reserved = await limiter.limit("llmTokens", { count: 40, reserve: true });
    expect(reserved).toMatchObject({ ok: true, retryAfter: 400, value: -40 });
    const denied = await limiter.limit("llmTokens", { count: 20, reserve: true });
    expect(denied).toEqual({ ok: false, retryAfter: 100, value: -40 });
    clock.advance(100);
    const accepted = await limiter.limit("llmTokens", { count: 20, reserve: true });
    expect(accepted).toMatchObject({ ok: true, retryAfter: 500, value: -50 });
  });

  it("reserves nothing if maxReserved is 0", async () => {
    const { limiter } = setUp();
    await limiter.limit("never");
    expect(await limiter.limit("never", { reserve: true })).toMatchObject({ ok: false });
  });

  it("throws exactly when the result would not be ok", async () => {
    const { clock, limiter } = setUp();
    const options = { count: 100, throws: true, reserve: true, key: "k" };
    await expect(limiter.limit("llmTokens", options)).resolves.toMatchObject({ ok: true });
    const reserved = await limiter.limit("llmTokens", { ...options, count: 50 });
    expect(reserved).toMatchObject({ ok: true, retryAfter: 500 });
    const error: unknown = await limiter.limit("llmTokens", options).catch((e: unknown) => e);
    expect(isRateLimitError(error) && error.data.rateLimit).toEqual({
      kind: "RateLimited",
      name: "llmTokens",
      retryAfter: 1000,
      value: -50,
      config: limiter.limits.llmTokens,
      now: clock(),
    });
  });

  it("accepts a config for an unknown name, and another config for a known one", async () => {
    const { limiter } = setUp();
    const config = { kind: "fixed window", rate: 1, period: SECOND } as const;
    expect(await limiter.limit("oneOff", { config })).toMatchObject({ ok: true });
    expect(await limiter.limit("oneOff", { config })).toMatchObject({ ok: false });
    const generous = { ...limiter.limits.sendMessage, capacity: 100 };
    await limiter.limit("sendMessage", { config: generous, count: 100, key: "paying" });
    expect(await limiter.check("sendMessage", { key: "paying" })).toMatchObject({ ok: false });
  });
});

describe("check", () => {
  it("answers as limit would, and consumes nothing", async () => {
    const { limiter } = setUp();
    for (let i = 0; i < 5; i++) {
      expect(await limiter.check("signUp", { count: 2 })).toMatchObject({ ok: true, value: 0 });
    }
    await limiter.limit("signUp", { count: 2 });
    const checked = await limiter.check("signUp");
    expect(checked).toMatchObject({ ok: false });
    expect(await limiter.limit("signUp")).toEqual(checked);
    await expect(limiter.check("signUp", { throws: true })).rejects.toThrow("Try again in");
  });
});

describe("reset", () => {
  it("fills the bucket of one key and forgets its reservations", async () => {
    const { limiter } = setUp();
    for (const key of ["a", "b"]) await limiter.limit("llmTokens", { key, count: 100 });
    await limiter.limit("llmTokens", { key: "a", count: 50, reserve: true });
    await limiter.reset("llmTokens", { key: "a" });
    expect(await limiter.getValue("llmTokens", { key: "a" })).toMatchObject({ value: 100 });
    expect(await limiter.getValue("llmTokens", { key: "b" })).toMatchObject({ value: 0 });
  });
});

describe("getValue", () => {
  it("gives the tokens held now, also before the first call", async () => {
    const { clock, limiter } = setUp();
    const config = limiter.limits.sendMessage;
    expect(await limiter.getValue("sendMessage")).toEqual({ value: 3, ts: clock(), config });
    await limiter.limit("sendMessage", { count: 3 });
    clock.advance(3000);
    expect(await limiter.getValue("sendMessage")).toEqual({ value: 0.5, ts: clock(), config });
  });

  it("fills in the start of a fixed window, which is derived from name and key", async () => {
    const { clock, limiter } = setUp();
    const { ts, config } = await limiter.getValue("signUp", { key: "k" });
    expect(config).toMatchObject({ kind: "fixed window", start: expect.any(Number) as number });
    expect(ts).toBeLessThanOrEqual(clock());
    expect(ts).toBeGreaterThan(clock() - MINUTE);
    await limiter.limit("signUp", { key: "k", count: 2 });
    const denied = await limiter.limit("signUp", { key: "k" });
    expect(denied).toEqual({ ok: false, retryAfter: ts + MINUTE - clock(), value: 0 });
  });
});

describe("createRateLimiter", () => {
  it("keeps the configs that it has validated, even if the caller changes them later", async () => {
    const window = { kind: "fixed window" as const, rate: 2, period: MINUTE };
    const bucket = { kind: "token bucket" as const, rate: 2, period: MINUTE, shards: 1 };
    const limiter = createRateLimiter({ store: memoryStore(), limits: { window, bucket } });
    const left = async (name: "window" | "bucket", key: string) =>
      (await limiter.check(name, { key, count: 0 })).value;
    expect([await left("window", "old"), await left("bucket", "old")]).toEqual([2, 2]);
    Object.assign(window, { rate: 100 });
    Object.assign(bucket, { rate: 100, shards: 10 });
    for (const key of ["old", "new"]) {
      expect([await left("window", key), await left("bucket", key)]).toEqual([2, 2]);
      const { config } = await limiter.getValue("window", { key });
      expect(() => Object.assign(config, { rate: 100 })).toThrow(TypeError);
    }
    const own = { kind: "token bucket" as const, rate: 1, period: MINUTE };
    await limiter.limit("window", { config: own });
    expect(Object.isFrozen(own)).toBe(false);
  });

  it("notifies listeners of changes, and only of changes", async () => {
    const { limiter } = setUp();
    const seen: unknown[] = [];
    const stop = limiter.onChange((digest) => void seen.push(digest));
    await limiter.limit("signUp", { key: "k", count: 2 });
    await limiter.limit("signUp", { key: "k" });
    await limiter.check("signUp", { key: "k" });
    await limiter.reset("signUp");
    stop();
    await limiter.limit("signUp");
    expect(seen).toEqual([changeDigest("signUp", "k"), changeDigest("signUp", undefined)]);
  });

  it("ignores what a listener throws, whether this or another process made the change", async () => {
    const subscribed: ChangeListener[] = [];
    const channel: ChangeChannel = {
      publish() {},
      subscribe: (listener) => {
        subscribed.push(listener);
        return () => {};
      },
    };
    const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;
    const limiter = createRateLimiter({ store: memoryStore(), limits, channel });
    let calls = 0;
    limiter.onChange(() => {
      calls++;
      throw new Error("not the limiter's business");
    });
    await limiter.limit("once");
    for (const listener of subscribed) listener(changeDigest("once", undefined));
    expect(calls).toBe(2);
  });
});
