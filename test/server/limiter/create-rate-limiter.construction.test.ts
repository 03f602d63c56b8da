/** What is wrong with the options of a limiter is found where it is made. */
import { describe, expect, it } from "vitest";
import {
  changeDigest,
  type ChangeListener,
  createRateLimiter,
  memoryStore,
  MINUTE,
  RateLimitConfigError,
  type RateLimiter,
} from "../../../server/index.js";
import { itThrows, type Refusal, wrong } from "../../support/refusals.js";

const limit = { kind: "token bucket", rate: 5, period: MINUTE } as const;
type Limiter = RateLimiter<{ first: typeof limit }, never>;

const made =
  (options: object, limits: object = { first: limit }) =>
  () =>
    createRateLimiter({ store: memoryStore(), limits, ...options } as never);
const named = (length: number, config: object, options: object = {}) =>
  made(options, { ["n".repeat(length)]: { ...limit, ...config } });
const STORE = "store must be a store, such as prismaStore(prisma) or memoryStore(), got undefined";
const { overrides: _, ...withoutOverrides } = memoryStore();
const slots = { kind: "concurrency", slots: 2 };
const changes = { ...limit, usage: { changes: true } };
const notMs = [-1, 0.5, NaN, Infinity, "1s", null];
const ofFew = (options: object) => made({}, { few: { ...limit, ...options } });

describe("createRateLimiter", () => {
  itThrows(Error, [
    [made({}, { "": limit }), "name must not be empty"],
    [made({}, { "a\0b": limit }), "name must contain no NUL"],
    [named(192, {}), "name must have at most 191"],
    [named(168, { blockFor: [1, 2] }), "blockFor needs a name of at most 167 characters"],
    [named(171, { onceFor: MINUTE }), "onceFor needs a name of at most 170"],
    [made({}, { ["n".repeat(171)]: slots }), "needs a name of at most 170 characters"],
  ]);

  itThrows(RateLimitConfigError, [
    [named(171, {}, { overrides: true }), "overrides need names of at most"],
    [() => createRateLimiter(undefined as never), STORE],
    [() => createRateLimiter({} as never), STORE],
    [made({ store: {} }, {}), "store must be a store"],
    [made({ store: memoryStore, limits: undefined }), "store must be a store"],
    [
      made({ limits: undefined }),
      "limits must be an object with the configs of the limits by name",
    ],
    [made({ limits: undefined }), "by name, got undefined"],
    [made({ limits: "few" }), "limits must be an object"],
    [made({}, { broken: { ...limit, rate: -1 } }), "limits.broken.rate must be", "above 0, got -1"],
    ...wrong("timeout", [0, -1, NaN], made, "timeout must be a number of ms above 0"),
    [made({ whenStoreFails: "deny" }), 'whenStoreFails must be "fail" or "allow", got "deny"'],
    ...wrong("enabled", ["false", 0, null], made, "enabled must be a boolean, or a function"),
    ...wrong(
      "rememberDenials",
      notMs,
      made,
      /^rememberDenials must be a whole number of ms of at /,
    ),
    ...wrong("rememberDenials", notMs, made, /least 0, got/),
    ...wrong(
      "rememberDenials",
      notMs,
      ofFew,
      /limits\.few\.rememberDenials must be a whole number/,
    ),
    ...wrong(
      "onceFor",
      [0, 1.5, NaN, 2 ** 53],
      made,
      "onceFor must be a whole number of ms above 0",
    ),
    ...wrong(
      "flushUsage",
      [0, 1.5, -1, NaN, Infinity],
      made,
      /flushUsage must be a whole number of/,
    ),
    [
      made({ flushUsage: 30_001 }, { changes }),
      /flushUsage must be at most 30000 ms .* usage.chang/,
    ],
    [made({ denialMessage: "de" }), /^denialMessage must be a function/],
    [made({ hashKey: "sha256" }), 'hashKey must be a function, got "sha256"'],
    [made({ waitUntil: true }), "waitUntil must be a function that takes a promise, got true"],
    [made({ overrides: "yes" }), 'overrides must be a boolean, got "yes"'],
    ...[{}, { overrides: false }].map((options): Refusal => {
      const message = "overridesFor is for a limiter with overrides: true";
      return [made({ overridesFor: 5, ...options }), message];
    }),
    [made({ overrides: true, overridesFor: -1 }), "overridesFor must be a whole number of ms"],
    [made({ overrides: true, overridesFor: 1.5 }), "overridesFor must be a whole number of ms"],
    [made({ overrides: true, store: withoutOverrides }), "this store does not support overrides"],
  ]);

  it.each([
    ["a name of 191 characters", named(191, {})],
    ["room for the closings", named(167, { blockFor: [1, 2] })],
    ["room for the line of slots", made({}, { ["n".repeat(170)]: slots })],
  ])("takes %s", (_what, make) => {
    expect(make).not.toThrow();
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
