/** Clients that send a command again after their connection was lost. */
import { setTimeout } from "node:timers/promises";
import type { RedisOptions } from "ioredis";
import { describe, expect, it } from "vitest";
import { createRateLimiter, HOUR, type RateLimiter } from "../../../server/index.js";
import { startLossyProxy } from "../../histories/lossy-proxy.js";
import { connectRedis } from "../../support/open-redis.js";
import { createRedisRows, NO_REDIS, redisUrl } from "../../support/redis-rows.js";
import { redisStore } from "../../../server/redis/index.js";
import { openRows } from "./open-rows.js";

const limits = {
  calls: { kind: "token bucket", rate: 100, period: 1000 * HOUR },
  others: { kind: "fixed window", rate: 100, period: 1000 * HOUR },
} as const;

type Limiter = RateLimiter<typeof limits>;

async function openBehindProxy(options: RedisOptions = {}) {
  const rows = createRedisRows();
  const proxy = await startLossyProxy(redisUrl!);
  const client = connectRedis(proxy.url, { retryStrategy: () => 5, ...options });
  const store = redisStore(client, { prefix: rows.prefix });
  const limiter: Limiter = createRateLimiter({ store, limits, timeout: 10_000, logger: false });
  const direct: Limiter = createRateLimiter({ store: rows.open(), limits });
  return {
    proxy,
    limiter,
    direct,
    marks: () => rows.client.keys(`${rows.prefix}*\0mark\0*`),
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await proxy[Symbol.asyncDispose]();
      await rows[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(redisUrl === undefined)("a call whose answer is lost", () => {
  it("takes its tokens once, although the command is sent again", async () => {
    await using opened = await openBehindProxy();
    const { limiter, direct, proxy } = opened;
    await limiter.limit("calls", { key: "a" });
    for (let round = 0; round < 10; round++) {
      const cut = proxy.cut();
      expect(await limiter.limit("calls", { key: "a" })).toMatchObject({ ok: true });
      await cut;
    }
    expect(Math.floor((await direct.getValue("calls", { key: "a" })).value)).toBe(89);
  });

  it("takes from all of its limits once, and gives back once", async () => {
    await using opened = await openBehindProxy();
    const { limiter, direct, proxy } = opened;
    const both = [
      { name: "calls", key: "a" },
      { name: "others", key: "a" },
    ] as const;
    await limiter.limitAll(both);
    for (let round = 0; round < 5; round++) {
      const cut = proxy.cut();
      expect(await limiter.limitAll(both)).toMatchObject({ ok: true });
      await cut;
    }
    const values = () =>
      Promise.all(
        both.map(async ({ name, key }) => Math.floor((await direct.getValue(name, { key })).value)),
      );
    expect(await values()).toEqual([94, 94]);
    const cut = proxy.cut();
    await limiter.refund("others", { key: "a", count: 2 });
    await cut;
    expect(await values()).toEqual([94, 96]);
  });

  it("takes its tokens once, although the client gave it up before it sent it again", async () => {
    await using opened = await openBehindProxy({ commandTimeout: 10 });
    const { limiter, direct, proxy } = opened;
    let [granted, failed] = [0, 0];
    const call = () =>
      limiter.limit("calls", { key: "a" }).then(
        () => granted++,
        () => failed++,
      );
    await call();
    for (let round = 0; round < 10; round++) {
      const cut = proxy.cut();
      // Each one is given up while the connection that has sent it is still there.
      await call();
      await call();
      await cut;
      await call();
    }
    const spent = 100 - Math.floor((await direct.getValue("calls", { key: "a" })).value);
    expect(failed).toBeGreaterThan(10);
    expect(spent).toBeLessThanOrEqual(granted + failed);
  });

  it.each([
    { maxRetriesPerRequest: 0 },
    { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
  ])("fails, and is neither marked nor sent again, with %o", async (options) => {
    await using opened = await openBehindProxy(options);
    const { limiter, direct, proxy, marks } = opened;
    await limiter.limit("calls", { key: "a" });
    const rounds = 8;
    for (let round = 0; round < rounds; round++) {
      const cut = proxy.cut();
      await expect(limiter.limit("calls", { key: "a" })).rejects.toThrow("max retries per request");
      await cut;
      await setTimeout(20);
      expect(await limiter.limit("calls", { key: "a" })).toMatchObject({ ok: true });
    }
    const spent = 100 - Math.floor((await direct.getValue("calls", { key: "a" })).value);
    expect(spent).toBe(1 + 2 * rounds);
    expect(await marks()).toEqual([]);
  });

  it("is marked with the options that ioredis has by default", async () => {
    await using opened = await openBehindProxy();
    const { limiter, marks } = opened;
    for (let i = 0; i < 3; i++) await limiter.limit("calls", { key: "a" });
    expect(await marks()).toHaveLength(1);
  });
});

describe.skipIf(redisUrl === undefined)("the take of one row", () => {
  it("gives the same answer to a command that is sent twice, and takes once", async () => {
    await using opened = await openRows((port) => ({
      ...port,
      resends: true,
      async send(args, routingKey) {
        const first = await port.send(args, routingKey);
        if (args[0] !== "EVALSHA") return first;
        const second = await port.send(args, routingKey);
        expect(second).toEqual(first);
        return second;
      },
    }));
    const { rows, runner } = opened;
    const now = runner.clock.now();
    const row = { name: "calls", key: "a", shard: 0 };
    const terms = { config: { kind: "fixed window", rate: 100, period: HOUR }, floor: 0 } as const;
    const line = { row, terms, total: 1, fresh: { used: 1, ts: now } };
    await rows.takeOne(line, now);
    for (let used = 2; used < 10; used++) {
      expect(runner.mayTakeOne()).toBe(true);
      expect(await rows.takeOne(line, now)).toEqual({ used, ts: now });
    }
  });
});

describe.runIf(redisUrl === undefined)("a call whose answer is lost", () => {
  it("takes its tokens once", ({ skip }) => skip(NO_REDIS));
});
