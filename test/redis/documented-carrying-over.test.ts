/** The guide to carrying balances over: its script, and what its table reads of other limiters' rows in Redis. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DAY, MINUTE } from "../../core/durations.js";
import { resetAt } from "../../core/index.js";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, type LimitValue, memoryStore } from "../../server/index.js";
import { readPage } from "../docs/pages.js";
import { importCode, openPage } from "../support/docs-module.js";
import {
  expressRateLimit,
  hasOtherLimiters,
  NO_OTHER_LIMITERS,
  rateLimiterFlexible,
  rateLimitRedis,
  upstashOn,
} from "./other-limiters.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";
import { startUpstash, type UpstashServer } from "./upstash-server.js";

const PAGE = "docs/guides/carrying-over.md";
const missing = missingForRedis() ?? (hasOtherLimiters ? undefined : NO_OTHER_LIMITERS);
const MONTH = 30 * DAY;

type Before = (key: string) => Promise<{ used: number; end: number }>;
interface Limits {
  redis: Redis;
  limiter: {
    getValue(name: string, options: { key: string }): Promise<LimitValue>;
  };
}

/** What a row of the page's table makes of a limiter. */
async function beforeOf(row: string, old: unknown): Promise<Before> {
  const line = (await readPage(PAGE)).text.split("\n").find((each) => each.startsWith(`| ${row}`))!;
  const [read, used, end] = [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
  const body = `{ const ${read}; return { used: ${used}, end: ${end} }; }`;
  const { make } = await importCode<{ make(old: unknown): Before }>(
    `export const make = (old) => async (key) => ${body};`,
  );
  return make(old);
}

describe.runIf(missing !== undefined)("balances of other limiters", () => {
  it("are carried over", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("balances of other limiters", () => {
  let server: RedisServer;
  let upstash: UpstashServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    upstash = await startUpstash(server.port);
    redis = new Redis(server.port);
    process.env["REDIS_PORT"] = `${server.port}`;
  });
  afterAll(async () => {
    redis.disconnect();
    await upstash.close();
    await server.stop();
  });

  /** Runs the script of the page twice. Resolves with the limiter that it has written to. */
  async function carryOver(before: Before) {
    await redis.del(await ownKeys());
    const ends = new Map<string, number>();
    const documented = {
      async before(key: string) {
        const found = await before(key);
        ends.set(key, found.end);
        return found;
      },
      userIds: () => Promise.resolve(["ann", "bob", "cem"]),
      creditsOf: (key: string) => Promise.resolve(key === "ann" ? 120 : 0),
    };
    Object.assign(globalThis, { documented });
    const load = await openPage(PAGE, "guides/carrying-over");
    const { limiter, redis: ofPage } = await load<Limits>("server/limits.ts");
    onTestFinished(() => ofPage.disconnect());
    await load("server/carry-over.ts");
    const first = new Map(ends);
    await load("server/carry-over.ts?again");
    const valueOf = async (name: "pictures" | "credits", key: string) =>
      (await limiter.getValue(name, { key })).value;
    const endOf = async (key: string) => {
      const state = await limiter.getValue("pictures", { key });
      return resetAt({ ...state, now: Date.now() });
    };
    return { valueOf, endOf, ends: first };
  }
  const ownKeys = async () => ["none", ...(await redis.keys("rate-limit:*"))];

  /** Expects what Ann has used (7), what Bob has used (all), and nothing of Cem. */
  async function expectCarried({ valueOf, endOf, ends }: Awaited<ReturnType<typeof carryOver>>) {
    const values = ["ann", "bob", "cem"].map((key) => valueOf("pictures", key));
    expect(await Promise.all(values)).toEqual([43, 0, 50]);
    for (const key of ["ann", "bob"]) expect(await endOf(key)).toBe(ends.get(key));
    expect([await valueOf("credits", "ann"), await valueOf("credits", "bob")]).toEqual([120, 0]);
  }

  it("are carried over once from rate-limiter-flexible, with the ends of their windows", async () => {
    const { RateLimiterRedis } = rateLimiterFlexible();
    const of = { storeClient: redis, keyPrefix: "pictures", points: 50, duration: MONTH / 1000 };
    const old = new RateLimiterRedis(of);
    await old.consume("ann", 7);
    await old.consume("bob", 60).catch(() => {});
    await expectCarried(await carryOver(await beforeOf("rate-limiter-flexible", old)));
  });

  it("are carried over once from Upstash, with the ends of their windows", async () => {
    const { Ratelimit, open } = upstashOn(upstash);
    const old = open(Ratelimit.fixedWindow(50, "30 d"));
    for (let i = 0; i < 7; i++) await old.limit("ann");
    await old.limit("bob", { rate: 60 });
    await expectCarried(await carryOver(await beforeOf("Upstash", old)));
  });

  it("are carried over once from express-rate-limit, with the ends of their windows", async () => {
    const { RedisStore } = rateLimitRedis();
    const store = new RedisStore({ sendCommand: (name, ...args) => redis.call(name, ...args) });
    const old = expressRateLimit().rateLimit({ windowMs: 20 * DAY, store, limit: 50 });
    for (let i = 0; i < 7; i++) await store.increment("ann");
    for (let i = 0; i < 60; i++) await store.increment("bob");
    await expectCarried(await carryOver(await beforeOf("express-rate-limit", old)));
  });

  it("of a token bucket refill from where they were", async () => {
    const { Ratelimit, open } = upstashOn(upstash);
    const old = open(Ratelimit.tokenBucket(10, "1 m", 10), "messages");
    for (let i = 0; i < 7; i++) await old.limit("ann");
    const { used } = await (await beforeOf("Upstash", old))("ann");
    const clock = createManualClock();
    const limits = { messages: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
    const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
    const carry = () => limiter.charge("messages", { key: "ann", count: used, once: "carried" });
    for (let i = 0; i < 2; i++) expect(await carry()).toMatchObject({ value: 3 });
    clock.advance(MINUTE / 2);
    expect(await limiter.getValue("messages", { key: "ann" })).toMatchObject({ value: 8 });
  });

  it("keep the window of a key that has called before the script ran", async () => {
    const clock = createManualClock();
    const pictures = { kind: "fixed window", rate: 50, period: MONTH } as const;
    const limiter = createRateLimiter({ store: memoryStore(), clock, limits: { pictures } });
    const key = "ann";
    const endOf = async () =>
      resetAt({ ...(await limiter.getValue("pictures", { key })), now: clock() });
    await limiter.limit("pictures", { key });
    const end = await endOf();
    const config = { ...pictures, start: clock() };
    expect(await limiter.charge("pictures", { key, count: 7, config })).toEqual({ value: 42 });
    expect(await endOf()).toBe(end);
  });
});
