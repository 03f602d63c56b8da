import { describe, expect, it } from "vitest";
import {
  changeDigest,
  type ChangeListener,
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimiter,
} from "../../../server/index.js";

const limit = { kind: "token bucket", rate: 5, period: MINUTE } as const;
type Limiter = RateLimiter<{ first: typeof limit }, never>;

describe("createRateLimiter throws", () => {
  it.each([
    ["an empty name", { "": limit }, "name must not be empty"],
    ["a name with a NUL", { "a\0b": limit }, "name must contain no NUL"],
    ["a name that is too long", { ["n".repeat(192)]: limit }, "name must have at most 191"],
  ])("for %s", (_what, limits, message) => {
    expect(() => createRateLimiter({ store: memoryStore(), limits })).toThrow(message);
  });

  it.each([
    [
      undefined,
      "store must be a store, such as prismaStore(prisma) or memoryStore(), got undefined",
    ],
    [{}, "store must be a store, such as prismaStore(prisma) or memoryStore(), got undefined"],
    [{ store: {}, limits: {} }, "store must be a store"],
    [{ store: memoryStore }, "store must be a store"],
    [
      { store: memoryStore() },
      "limits must be an object with the configs of the limits by name, got undefined",
    ],
    [{ store: memoryStore(), limits: "few" }, "limits must be an object"],
  ])(
    "for options without a store or without limits, in plain JavaScript: %o",
    (options, message) => {
      const create = () => createRateLimiter(options as never);
      expect(create).toThrow(expect.objectContaining({ name: "RateLimitConfigError" }));
      expect(create).toThrow(message);
    },
  );

  it.each([0, -1, NaN])("for a timeout of %d ms", (timeout) => {
    expect(() => createRateLimiter({ store: memoryStore(), limits: {}, timeout })).toThrow(
      "timeout must be a number of ms above 0",
    );
  });

  it("for a whenStoreFails that is no policy", () => {
    const options = { store: memoryStore(), limits: {}, whenStoreFails: "deny" } as never;
    expect(() => createRateLimiter(options)).toThrow(
      'whenStoreFails must be "fail" or "allow", got "deny"',
    );
  });
});

it.each([
  ["using", (limiter: Limiter) => limiter.using(undefined as never)],
  ["transaction", (limiter: Limiter) => limiter.transaction(async () => {})],
  ["prune", (limiter: Limiter) => limiter.prune()],
])("says which method a store does not support: %s", async (method, call) => {
  const { apply } = memoryStore();
  const limiter = createRateLimiter({ store: { apply }, limits: { first: limit } });
  await expect(async () => call(limiter)).rejects.toMatchObject({
    name: "RateLimitConfigError",
    option: "store",
    message: `this store does not support ${method}(); use memoryStore(), prismaStore() or pgStore()`,
  });
});

it("a transaction notifies of the changes of its last try, after the commit", async () => {
  const memory = memoryStore();
  const limiter = createRateLimiter({
    store: memory,
    limits: { first: limit, second: limit },
  });
  const changed: string[] = [];
  limiter.onChange((digest) => void changed.push(digest));
  let tries = 0;
  const outsider = createRateLimiter({ store: memory, limits: { first: limit } });
  await limiter.transaction(async ({ limit: take, check }) => {
    await check("first");
    if (tries++ > 0) return void (await take("second"));
    await take("first");
    // The transaction conflicts with this call.
    await outsider.limit("first");
  });
  expect(tries).toBe(2);
  expect(changed).toEqual([changeDigest("second", undefined)]);
});

it("a listener that has unsubscribed receives no changes, not even of the channel", async () => {
  const channel = new Set<ChangeListener>();
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
  const changed: string[] = [];
  const stop = limiter.onChange((digest) => void changed.push(digest));
  for (const listener of channel) listener("elsewhere");
  await limiter.limit("first");
  await limiter.reset("first");
  await limiter.refund("first");
  const first = changeDigest("first", undefined);
  expect(changed).toEqual(["elsewhere", first, first, first]);
  // Calls without effect are not changes.
  await limiter.check("first");
  await limiter.limit("first", { count: 0 });
  await limiter.limit("first", { count: 5 });
  await limiter.limit("first");
  expect(changed).toHaveLength(5);
  stop();
  await limiter.reset("first");
  expect([changed.length, channel.size]).toEqual([5, 0]);
});

it("a config does not make an invalid name valid", async () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits: {} });
  for (const name of ["", "a\0b", "n".repeat(192)]) {
    const calling = limiter.limit(name, { config: limit });
    await expect(calling).rejects.toMatchObject({ reason: "name" });
  }
});
