import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE, type RateLimitStore } from "../../server/index.js";

const limit = { kind: "token bucket", rate: 5, period: MINUTE } as const;

describe("a limiter is not made", () => {
  it.each([
    ["an empty name", { "": limit }, "name must not be empty"],
    ["a name with a NUL", { "a\0b": limit }, "name must contain no NUL"],
    ["a name that is too long", { ["n".repeat(192)]: limit }, "name must have at most 191"],
  ])("with %s", (_what, limits, message) => {
    expect(() => createRateLimiter({ store: memoryStore(), limits })).toThrow(message);
  });

  it.each([0, -1, NaN])("with a timeout of %d ms", (timeout) => {
    expect(() => createRateLimiter({ store: memoryStore(), limits: {}, timeout })).toThrow(
      "timeout must be a number of ms above 0",
    );
  });
});

it("a transaction tells of what its last try changed, once it has been committed", async () => {
  const memory = memoryStore() as RateLimitStore;
  const limiter = createRateLimiter({
    store: memory,
    limits: { first: limit, second: limit },
  });
  const heard: string[] = [];
  limiter.onChange((name) => heard.push(name));
  let tries = 0;
  const outsider = createRateLimiter({ store: memory, limits: { first: limit } });
  await limiter.transaction(async ({ limit: take, check }) => {
    await check("first");
    if (tries++ > 0) return void (await take("second"));
    await take("first");
    // Which this try conflicts with.
    await outsider.limit("first");
  });
  expect(tries).toBe(2);
  expect(heard).toEqual(["second"]);
});

it("a listener that has gone hears nothing more, of a channel's news either", async () => {
  const channel = new Set<(name: string, key: string | undefined) => void>();
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { first: limit },
    channel: {
      publish: () => {},
      subscribe(listener) {
        channel.add(listener);
        return () => channel.delete(listener);
      },
    },
  });
  const heard: string[] = [];
  const stop = limiter.onChange((name) => heard.push(name));
  for (const listener of channel) listener("from elsewhere", undefined);
  await limiter.limit("first");
  await limiter.reset("first");
  await limiter.refund("first");
  expect(heard).toEqual(["from elsewhere", "first", "first", "first"]);
  // What changes nothing is no news.
  await limiter.check("first");
  await limiter.limit("first", { count: 0 });
  await limiter.limit("first", { count: 5 });
  await limiter.limit("first");
  expect(heard).toHaveLength(5);
  stop();
  await limiter.reset("first");
  expect([heard.length, channel.size]).toEqual([5, 0]);
});

it("a config that a call brings along makes no name of what is none", async () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits: {} });
  for (const name of ["", "a\0b", "n".repeat(192)]) {
    const calling = limiter.limit(name, { config: limit });
    await expect(calling).rejects.toMatchObject({ reason: "name" });
  }
});
