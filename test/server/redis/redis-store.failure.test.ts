/** Servers that are down or silent, replicas that are missing, and scripts that are forgotten. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createRateLimiter, MINUTE, type RateLimitStore } from "../../../server/index.js";
import { redisStore } from "../../../server/redis/index.js";
import { LIFE, scriptShas } from "../../../server/redis/run-script.js";
import { SCRIPTS } from "../../../server/redis/scripts.js";
import { missingForRedis, startRedis } from "../../redis/redis-server.js";
import { connectRedis } from "../../support/open-redis.js";
import { createRedisRows, NO_REDIS, redisUrl } from "../../support/redis-rows.js";
import { startSilentProxy } from "../../support/silent-proxy.js";
import { openRows } from "./open-rows.js";

const limits = {
  calls: { kind: "token bucket", rate: 50, period: 1000 * MINUTE },
  open: { kind: "token bucket", rate: 50, period: MINUTE, whenStoreFails: "allow" },
} as const;
const missing = missingForRedis();

const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: Error) => error,
  );

describe.skipIf(redisUrl === undefined)("redisStore", () => {
  it("rejects calls in time while its client waits for a server, and works when there is one", async () => {
    const rows = createRedisRows();
    onTestFinished(() => rows[Symbol.asyncDispose]());
    const proxy = await startSilentProxy(redisUrl!);
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const client = connectRedis(proxy.url);
    onTestFinished(() => client.disconnect());
    const store = redisStore(client, { prefix: rows.prefix });
    const limiter = createRateLimiter({ store, limits, timeout: 400, logger: false });
    expect(await limiter.limit("calls", { key: "a" })).toMatchObject({ ok: true });
    proxy.silence();
    const calls = [1, 2, 3].map(() => errorOf(limiter.limit("calls", { key: "a" })));
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ name: "RateLimitStoreError" });
    }
    // The probe has no answer either, so it is an outage.
    expect(await limiter.limit("open", { key: "a" })).toMatchObject({ storeFailed: true });
    client.stream.destroy();
    await expect.poll(() => errorOf(limiter.limit("calls", { key: "a" }))).toBe(undefined);
  });

  it("rejects calls at once if its client does not queue them", async () => {
    const client = connectRedis("redis://127.0.0.1:1", {
      enableOfflineQueue: false,
      retryStrategy: () => null,
    });
    onTestFinished(() => client.disconnect());
    const limiter = createRateLimiter({ store: redisStore(client), limits, logger: false });
    const error = await errorOf(limiter.limit("calls", { key: "a@example.org" }));
    expect(error).toMatchObject({ name: "RateLimitStoreError", isOutage: true });
    expect(error!.message).not.toContain("example.org");
    expect(await limiter.limit("open")).toMatchObject({ storeFailed: true });
  });

  it("sends its scripts again after the server has forgotten them", async () => {
    await using rows = createRedisRows();
    const limiter = createRateLimiter({ store: rows.open(), limits });
    for (let round = 0; round < 5; round++) {
      const calls = [
        limiter.limit("calls", { key: "a" }),
        limiter.limitAll([{ name: "calls", key: "a" }, { name: "open" }]),
        limiter.check("calls", { key: "b" }),
        rows.client.script("FLUSH"),
        limiter.limit("calls", { key: "a" }),
      ];
      await Promise.all(calls);
    }
    expect(Math.floor((await limiter.getValue("calls", { key: "a" })).value)).toBe(35);
  });

  describe.each(["take", "takeOne"] as const)(
    "by the script %s, a command that comes too late",
    (script) => {
      const row = { name: "n", key: "k", shard: 0 };
      const config = { kind: "token bucket", rate: 5, period: MINUTE } as const;

      async function setUp() {
        const names = new Set([SCRIPTS[script], (await scriptShas()).get(script)]);
        let deadline: string | undefined;
        let last: string | undefined;
        const opened = await openRows((port) => ({
          ...port,
          send(args, routingKey) {
            if (!args[0]!.startsWith("EVAL")) return port.send(args, routingKey);
            last = args[1];
            // The deadline is the first argument after the keys.
            const place = 3 + Number(args[2]);
            const late = args.map((each, i) => (i === place ? (deadline ?? each) : each));
            return port.send(late, routingKey);
          },
        }));
        onTestFinished(() => opened[Symbol.asyncDispose]());
        const { client, prefix, rows, runner } = opened;
        const fresh = { used: 1, ts: Date.now() };
        const line = { row, terms: { config, floor: 0 }, total: 1, fresh };
        // Its reply has the time, without which `takeOne` would not do.
        await rows.take([line], fresh.ts);
        const keys = await client.keys(`${prefix}*n*`);
        const kept = keys.find((key) => !key.includes("mark"))!;
        return {
          runner,
          held: () => client.get(kept),
          async take() {
            if (script === "take") await rows.take([line], fresh.ts);
            else await rows.takeOne(line, fresh.ts);
          },
          isSent: () => names.has(last!),
          comeLate: () => (deadline = String(Date.now() - 1000)),
        };
      }

      it("does nothing, and learns the time next", async () => {
        const { runner, held, take, isSent, comeLate } = await setUp();
        await take();
        const before = await held();
        expect(runner.mayTakeOne()).toBe(true);
        comeLate();
        await expect(take()).rejects.toMatchObject({ name: "RedisConflictError" });
        expect(isSent()).toBe(true);
        expect(await held()).toBe(before);
        expect(runner.mayTakeOne()).toBe(false);
      });

      it("does nothing, and says so if the connection was lost for as long", async () => {
        const { held, take, isSent, comeLate } = await setUp();
        const before = await held();
        comeLate();
        const call = take();
        const now = performance.now.bind(performance);
        const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + LIFE);
        onTestFinished(() => clock.mockRestore());
        await expect(call).rejects.toMatchObject({ name: "RedisLateError" });
        expect(isSent()).toBe(true);
        expect(await held()).toBe(before);
      });
    },
  );

  it("says that it has no transactions", async () => {
    await using rows = createRedisRows();
    const store: RateLimitStore = rows.open();
    const limiter = createRateLimiter({ store, limits });
    const message = /redisStore has no (using|transaction)\(\): .* refund\(\)/;
    expect(() => limiter.using({})).toThrow(message);
    await expect(limiter.transaction(async () => 1)).rejects.toThrow(message);
  });

  it.each([
    [{ prefix: "a{b" }, /^prefix must be a text without braces/],
    [{ tags: 0 }, /^tags must be a whole number from 1 to 256, got 0/],
    [{ wait: { replicas: 0, timeout: 5 } }, /^wait.replicas must be a whole number, at least 1/],
    [{ wait: { replicas: 1, timeout: 0 } }, /^wait.timeout must be a whole number of ms/],
    [{ eviction: "allow" }, /^eviction must be "ignore", or left out/],
    [{ table: "x" }, /^table must be left out: redisStore knows prefix, tags/],
  ])("refuses the options %j", async (options, message) => {
    await using rows = createRedisRows();
    expect(() => redisStore(rows.client, options as never)).toThrow(message);
  });
});

describe.skipIf(missing !== undefined)("redisStore with `wait`", () => {
  const wait = { replicas: 1, timeout: 1500 };

  it("grants what a replica has, and rejects what none has acknowledged", async () => {
    const master = await startRedis();
    onTestFinished(() => master.stop());
    const replica = await startRedis({ replicaof: `127.0.0.1 ${master.port}` });
    onTestFinished(() => replica.stop());
    const client = connectRedis(`redis://127.0.0.1:${master.port}`);
    onTestFinished(() => client.disconnect());
    await expect.poll(() => master.run("INFO", "replication")).toMatch(/slave0:.*state=online/);
    const limiter = createRateLimiter({
      store: redisStore(client, { wait }),
      limits,
      timeout: 10_000,
    });
    expect(await limiter.limit("calls", { key: "a" })).toMatchObject({ ok: true });
    expect(await limiter.limitAll([{ name: "calls" }, { name: "open" }])).toMatchObject({
      ok: true,
    });
    replica.freeze();
    const error = await errorOf(limiter.limit("calls", { key: "a" }));
    expect(error).toMatchObject({ name: "RateLimitStoreError", isOutage: true });
    expect(error!.message).toMatch(/only 0 of 1 replicas have acknowledged a write within 1500 ms/);
    // Reads wait for none.
    expect(await limiter.check("calls", { key: "b" })).toMatchObject({ ok: true });
    replica.thaw();
    await expect.poll(() => errorOf(limiter.limit("calls", { key: "c" }))).toBe(undefined);
    expect(Math.floor((await limiter.getValue("calls", { key: "a" })).value)).toBe(48);
  });
});

describe.runIf(redisUrl === undefined)("redisStore", () => {
  it("rejects calls in time", ({ skip }) => skip(NO_REDIS));
});

describe.runIf(missing !== undefined)("redisStore with `wait`", () => {
  it("waits for replicas", ({ skip }) => skip(missing!));
});
