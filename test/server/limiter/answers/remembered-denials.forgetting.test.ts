/** `rememberDenials`: what makes a process forget a denial before its time. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  changeDigest,
  type ChangeListener,
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimiterOptions,
} from "../../../../server/index.js";

// The limiter's clock is a manual one. This one bounds how long a denial is remembered.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const few = { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10 } as const;
const limits = { few: { ...few, rememberDenials: MINUTE } } as const;

type Given = "channel" | "hashKey" | "rememberDenials" | "timeout";

/** Two limiters on one store, as of two processes. The first one gets `options`. */
function createPair(options: Partial<Pick<RateLimiterOptions<typeof limits>, Given>> = {}) {
  const clock = createManualClock(Date.UTC(2030, 0, 1));
  const shared = { store: memoryStore(), clock, limits };
  const limiter = createRateLimiter({ ...shared, ...options });
  return { limiter, other: createRateLimiter(shared), clock };
}

describe("a denial that is remembered", () => {
  it("is forgotten after this process has given back, settled, charged, reset or forgotten", async () => {
    const { limiter } = createPair();
    const ends = {
      refund: (key: string) => limiter.refund("few", { key }),
      charge: (key: string) => limiter.charge("few", { key, count: 0 }),
      reset: (key: string) => limiter.reset("few", { key }),
      forget: (key: string) => limiter.forget(key),
      transaction: (key: string) => limiter.transaction(({ refund }) => refund("few", { key })),
      limitAll: (key: string) => limiter.limitAll([{ name: "few", key }]),
    };
    for (const [key, end] of Object.entries(ends)) {
      await limiter.limit("few", { key, count: 10 });
      await limiter.limit("few", { key });
      expect(await limiter.limit("few", { key })).toHaveProperty("remembered");
      await end(key);
      expect(await limiter.limit("few", { key })).not.toHaveProperty("remembered");
    }
    const taken = await limiter.limit("few", { key: "settle", count: 10 });
    await limiter.limit("few", { key: "settle" });
    await limiter.settle(taken, 9);
    expect((await limiter.limit("few", { key: "settle" })).ok).toBe(true);
  });

  it("is of the row: two keys that hashKey stores as one share it, and its end", async () => {
    const { limiter } = createPair({ hashKey: (key) => key.toLowerCase() });
    await limiter.limit("few", { key: "ADA", count: 10 });
    await limiter.limit("few", { key: "Ada" });
    expect(await limiter.limit("few", { key: "ada" })).toHaveProperty("remembered");
    await limiter.reset("few", { key: "aDA" });
    expect((await limiter.limit("few", { key: "Ada" })).ok).toBe(true);
  });

  it("is of one config: with another one, the store is asked, and then for the first one too", async () => {
    const { limiter } = createPair();
    const config = { ...few, capacity: 5 };
    await limiter.limit("few", { count: 10 });
    await limiter.limit("few");
    expect((await limiter.limit("few", { config })).ok).toBe(false);
    // An equal config is the same one, and inherits `rememberDenials` of its limit.
    expect(await limiter.limit("few", { config: { ...config } })).toHaveProperty("remembered");
    expect(await limiter.limit("few")).not.toHaveProperty("remembered");
    expect(await limiter.limit("few")).toHaveProperty("remembered");
    // A call that does not remember uses the row with another config, too.
    await limiter.limit("few", { config: { ...config, rememberDenials: 0 } });
    expect(await limiter.limit("few")).not.toHaveProperty("remembered");
  });

  it("ends at news of the channel about its key, and of no other", async () => {
    const listeners = new Set<ChangeListener>();
    const channel = {
      publish() {},
      subscribe(listener: ChangeListener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    const { limiter, other } = createPair({ channel });
    await limiter.limit("few", { key: "ada", count: 10 });
    expect(listeners.size).toBe(0);
    await limiter.limit("few", { key: "ada" });
    await other.reset("few", { key: "ada" });
    for (const listener of listeners) listener(changeDigest("few", "bob"));
    expect(await limiter.limit("few", { key: "ada" })).toHaveProperty("remembered");
    for (const listener of listeners) listener(changeDigest("few", "ada"));
    expect((await limiter.limit("few", { key: "ada" })).ok).toBe(true);
  });

  it("hangs up on the channel a while after the last denial has expired", async () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout", "setImmediate"] });
    let listening = 0;
    const channel = { publish() {}, subscribe: () => (listening++, () => void listening--) };
    const { limiter } = createPair({ channel });
    await limiter.limit("few", { count: 10 });
    for (const _ of [1, 2]) {
      await limiter.limit("few");
      expect(listening).toBe(1);
      await vi.advanceTimersByTimeAsync(3 * MINUTE);
      expect(listening).toBe(0);
    }
  });

  it("is not listened for where the limit remembers none", async () => {
    let subscriptions = 0;
    const channel = { publish() {}, subscribe: () => (subscriptions++, () => {}) };
    const limiter = createRateLimiter({
      store: memoryStore(),
      clock: createManualClock(),
      limits: { ...limits, plain: few, leased: { ...few, lease: { ms: 1000 } } },
      channel,
    });
    for (const name of ["plain", "leased"] as const) {
      await limiter.limit(name, { count: 10 });
      expect(await limiter.limit(name)).toMatchObject({ ok: false });
    }
    expect(subscriptions).toBe(0);
    await limiter.limit("few", { count: 10 });
    await limiter.limit("few");
    expect(subscriptions).toBe(1);
  });
});
