import { beforeEach, describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  isRateLimitError,
  MINUTE,
  SECOND,
} from "../../../../../server/index.js";
import { stores } from "../../../../support/stores.js";
import { twoProcesses } from "../../../../support/two-processes.js";

const limits = {
  tokens: { kind: "token bucket", rate: 10, period: SECOND, maxReserved: 30 },
  daily: { kind: "fixed window", rate: 3, period: DAY, start: 0 },
  sharded: { kind: "token bucket", rate: 100, period: SECOND, shards: 4 },
} as const;

describe.each(stores)("on %s", (_name, open) => {
  const setUp = () => twoProcesses(open, limits);

  let setting: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    setting = await setUp();
  });

  it("refund gives tokens back, up to the capacity", async () => {
    const { limiter } = setting;
    await limiter.limit("daily", { key: "u", count: 3 });
    expect(await limiter.refund("daily", { key: "u" })).toEqual({ value: 1 });
    expect(await limiter.refund("daily", { key: "u", count: 100 })).toEqual({ value: 3 });
    expect(await limiter.refund("daily", { key: "never seen" })).toEqual({ value: 3 });
    await limiter.limit("sharded", { count: 50 });
    await limiter.refund("sharded", { count: 10 });
    expect((await limiter.getValue("sharded")).value).toBeLessThanOrEqual(60);
  });

  it("acquire calls wait and resolve one after the other", async () => {
    const { limiter, clock } = setting;
    const done: string[] = [];
    await limiter.acquire("tokens", { count: 10 });
    const waiting = ["first", "second"].map(async (name) => {
      await limiter.acquire("tokens", { count: 10 });
      done.push(name);
    });
    while (clock.sleepers() < 2) await limiter.check("tokens", { count: 0 });
    clock.advance(999);
    // The second one reserves shortly before the turn of the first.
    while ((await limiter.getValue("tokens")).value > -10) await Promise.resolve();
    while (clock.sleepers() < 2) await limiter.check("tokens", { count: 0 });
    expect(done).toEqual([]);
    clock.advance(1);
    await waiting[0];
    expect(done).toEqual(["first"]);
    clock.advance(1000);
    await waiting[1];
    expect(done).toEqual(["first", "second"]);
  });

  it("acquire is denied at once if its wait would be too long, and consumes nothing", async () => {
    const { limiter } = setting;
    await limiter.limit("tokens", { count: 10 });
    const late: unknown = await limiter
      .acquire("tokens", { count: 5, maxWait: 400 })
      .catch((error: unknown) => error);
    expect(isRateLimitError(late) && late.data.rateLimit).toMatchObject({ retryAfter: 100 });
    const tooMany: unknown = await limiter
      .acquire("tokens", { count: 31 })
      .catch((error: unknown) => error);
    expect(isRateLimitError(tooMany)).toBe(true);
    expect((await limiter.getValue("tokens")).value).toBe(0);
  });

  it("acquire gives its reservation back when it is aborted", async () => {
    const { limiter, clock } = setting;
    await limiter.limit("tokens", { count: 10 });
    const controller = new AbortController();
    const waiting = limiter.acquire("tokens", { count: 5, signal: controller.signal });
    while (clock.sleepers() < 1) await limiter.check("tokens", { count: 0 });
    expect((await limiter.getValue("tokens")).value).toBe(-5);
    controller.abort(new Error("changed my mind"));
    await expect(waiting).rejects.toThrow("changed my mind");
    expect((await limiter.getValue("tokens")).value).toBe(0);
    await expect(limiter.acquire("tokens", { signal: controller.signal })).rejects.toThrow("mind");
  });

  it("prune deletes only the rows that are full again", async () => {
    const { limiter, clock } = setting;
    const keys = Array.from({ length: 1203 }, (_, i) => `u${i}`);
    await Promise.all(keys.map((key) => limiter.limit("tokens", { key })));
    await limiter.limit("daily", { key: "u" });
    await limiter.limit("sharded");
    await limiter.limit("unknown", { config: limits.daily });
    expect(await limiter.prune()).toBe(0);
    clock.advance(2 * MINUTE);
    await limiter.limit("tokens", { key: "u7" });
    expect(await limiter.prune()).toBe(1203);
    expect(await limiter.prune()).toBe(0);
    expect(await limiter.check("daily", { key: "u", count: 3 })).toMatchObject({ ok: false });
    clock.advance(2 * DAY);
    expect(await limiter.prune()).toBe(2);
    expect(await limiter.list("unknown", { config: limits.daily })).toMatchObject({
      items: [{ key: undefined }],
    });
  });

  it("prune keeps what a larger config of a call has used, of which nobody tells it", async () => {
    const { limiter, clock } = setting;
    const paying = { ...limits.tokens, capacity: 10_000 };
    await limiter.limit("tokens", { key: "u", count: 9_000, config: paying });
    clock.advance(2 * MINUTE);
    expect(await limiter.prune()).toBe(0);
    clock.advance(DAY);
    expect(await limiter.prune()).toBe(1);
  });

  it("onDecision receives each decision, and its error has no effect", async () => {
    const { limiter, events } = setting;
    await limiter.limit("daily", { key: "u", count: 3 });
    await limiter.check("daily", { key: "u" });
    await limiter.limitAll([{ name: "daily", key: "u" }, { name: "tokens" }]);
    expect(events).toEqual([
      {
        action: "limit",
        name: "daily",
        key: "u",
        count: 3,
        result: { ok: true, value: 0, ts: expect.any(Number) },
        capacity: 3,
        share: 1,
      },
      expect.objectContaining({ action: "check", result: expect.objectContaining({ ok: false }) }),
      expect.objectContaining({ action: "limit", name: "daily", count: 1 }),
    ]);
    const opened = await open();
    const spoilt = createRateLimiter({
      store: opened.store,
      limits,
      onDecision() {
        throw new Error("metrics are down");
      },
    });
    await expect(spoilt.limit("daily")).resolves.toMatchObject({ ok: true });
    await opened[Symbol.asyncDispose]();
  });

  it("the error of a channel has no effect on the calls of the same batch", async () => {
    const opened = await open();
    const limiter = createRateLimiter({
      store: opened.store,
      limits,
      channel: {
        publish() {
          throw new Error("the channel is down");
        },
        subscribe: () => () => {},
      },
    });
    const calls = ["a", "b", "c"].map((key) => limiter.limit("daily", { key }));
    const results = await Promise.all(calls);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
    await opened[Symbol.asyncDispose]();
  });
});
