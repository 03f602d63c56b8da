import { storesAndRedis } from "../../../../support/stores.js";
import { createManualClock } from "../../../../../testing/index.js";
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  RateLimitConfigError,
  RateLimitInputError,
} from "../../../../../server/index.js";

const START = Date.UTC(2030, 0, 1);
const limits = {
  send: { kind: "token bucket", rate: 10, period: MINUTE },
  points: { kind: "credits" },
} as const;
const SLOW = { kind: "token bucket", rate: 2 ** -40, period: MINUTE } as const;

function create() {
  return createRateLimiter({
    store: memoryStore(),
    clock: createManualClock(START),
    limits,
    overrides: true,
  });
}

/** In plain JavaScript. */
type Anything = Record<"set" | "get" | "clear" | "list", (...args: unknown[]) => Promise<unknown>>;

const REFUSED: [method: keyof Anything, args: unknown[], message: string][] = [
  ["set", ["send", {}], "exactly one of plan, config, times, add, unlimited, blocked, got none"],
  ["set", ["send", { blocked: true, times: 2 }], "exactly one"],
  ["set", ["send", { key: "user", unlimited: true, blocked: true }], "got unlimited and blocked"],
  ["set", ["send", { blocked: false }], "blocked must be true, or left out, got false"],
  ["set", ["send", { unlimited: "yes" }], 'unlimited must be true, or left out, got "yes"'],
  ["set", ["send", { times: 0 }], "times must be a finite number above 0, got 0"],
  ["set", ["send", { times: Infinity }], "times must be a finite number"],
  ["set", ["send", { times: "2" }], "times must be a finite number"],
  [
    "set",
    ["send", { config: { kind: "credits" } }],
    'config.kind must be another kind than "credits"',
  ],
  ["set", ["send", { config: SLOW, key: "user", capacity: 3 }], "capacity is not an option"],
  ["set", ["send", { blocked: true, until: START }], "until must be still to come"],
  ["set", ["send", { blocked: true, until: START / 1000 + 3600 }], "until must be still to come"],
  ["set", ["send", { blocked: true, until: NaN }], "until must be an instant, epoch ms"],
  ["set", ["send", { blocked: true, until: "tomorrow" }], "until must be an instant, epoch ms"],
  ["set", ["send"], "the options of overrides.set() must be an object"],
  ["get", ["send", { name: "send" }], "name is not an option of overrides.get()"],
  ["set", ["send", { add: 0 }], "add must be a finite number above 0, got 0"],
  ["set", ["send", { add: -5 }], "add must be a finite number above 0, got -5"],
  ["set", ["send", { add: 1e300 }], 'add 1e+300 makes a config of "send" that cannot work'],
  [
    "set",
    ["points", { add: 5 }],
    "left out for a balance of credits, to which limiter.credit() adds",
  ],
  ["clear", ["send", { until: 5 }], "until is not an option of overrides.clear()"],
  ["clear", ["send", { only: "ban" }], "only must be one of plan, config, times, add"],
];

const INVALID: [method: keyof Anything, args: unknown[], message: string][] = [
  ["set", ["sned", { blocked: true }], 'unknown rate limit "sned"'],
  ["set", ["send", { key: undefined, blocked: true }], "key must not be undefined"],
  ["set", ["send", { key: "", blocked: true }], "key must not be empty"],
  ["get", ["send", { key: undefined }], "key must not be undefined"],
  ["clear", ["send", { key: undefined }], "key must not be undefined"],
  ["list", ["sned"], 'unknown rate limit "sned"'],
];

describe("overrides", () => {
  it.each(REFUSED)("refuse %s(%j)", async (method, args, message) => {
    const calls = create().overrides as unknown as Anything;
    const refused = await calls[method](...args).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitConfigError);
    expect((refused as Error).message).toContain(message);
    expect(await calls.list()).toEqual([]);
  });

  it.each(INVALID)("take %s(%j) for a mistake of the caller", async (method, args, message) => {
    const calls = create().overrides as unknown as Anything;
    const refused = await calls[method](...args).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitInputError);
    expect((refused as Error).message).toContain(message);
    expect(await calls.list()).toEqual([]);
  });

  it.each([
    ["rate", { kind: "fixed window", rate: 3, period: MINUTE, start: 0 }, 10 * MINUTE],
    ["capacity", { kind: "token bucket", rate: 60, period: MINUTE, capacity: 3 }, 10_000],
    ["shards", { kind: "token bucket", rate: 10, period: MINUTE, shards: 5 }, 10 * MINUTE],
  ] as const)("leave room for a call when times makes the %s a fraction", async (_, one, wait) => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      clock: createManualClock(START),
      limits: { send: one },
      overrides: true,
    });
    await limiter.overrides.set("send", { times: 0.1 });
    expect(await limiter.limit("send")).toMatchObject({ ok: true });
    // Each of the shards has room for one.
    let last = await limiter.limit("send");
    for (let i = 0; i < 4 && last.ok; i++) last = await limiter.limit("send");
    expect(last.ok).toBe(false);
    expect(last.retryAfter).toBeLessThanOrEqual(wait);
  });

  it("are what was set, until they are replaced, cleared, or have ended", async () => {
    const clock = createManualClock(START);
    const limiter = createRateLimiter({ store: memoryStore(), clock, limits, overrides: true });
    const { overrides } = limiter;
    await overrides.set("send", { key: "user", times: 2 });
    clock.advance(5);
    await overrides.set("send", { key: "user", times: 2.5, until: START + MINUTE });
    await overrides.set("send", { config: SLOW });
    const ofUser = {
      name: "send",
      key: "user",
      times: 2.5,
      until: START + MINUTE,
      setAt: START + 5,
    };
    const ofAll = {
      name: "send",
      key: undefined,
      config: SLOW,
      until: undefined,
      setAt: START + 5,
    };
    expect(await overrides.list()).toEqual([ofUser, ofAll]);
    expect(await overrides.list("send")).toEqual([ofUser, ofAll]);
    expect(await overrides.get("send", { key: "user" })).toEqual(ofUser);
    expect(await overrides.get("send")).toEqual(ofAll);
    expect(await overrides.get("send", { key: "other" })).toBe(undefined);
    clock.advance(MINUTE);
    expect(await overrides.get("send", { key: "user" })).toBe(undefined);
    expect(await overrides.clear("send")).toBe(true);
    expect(await overrides.list()).toEqual([]);
  });

  it.each(storesAndRedis)("hold on %s until any instant, however late", async (_, open) => {
    await using opened = await open();
    const limiter = createRateLimiter({ store: opened.store, limits, overrides: true });
    const key = "user";
    await limiter.overrides.set("send", { key, blocked: true, until: Number.MAX_VALUE });
    expect(await limiter.overrides.get("send", { key })).toMatchObject({ blocked: true });
    expect(await limiter.limit("send", { key })).toMatchObject({ ok: false });
  });

  it("need the option", async () => {
    const without = createRateLimiter({ store: memoryStore(), limits });
    const refused = without.overrides.set("send", { blocked: true });
    await expect(refused).rejects.toThrow("the option overrides: true");
  });
});
