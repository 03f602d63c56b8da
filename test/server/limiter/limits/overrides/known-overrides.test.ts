import { createManualClock } from "../../../../../testing/index.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type ChangeChannel,
  type ChangeListener,
  createRateLimiter,
  memoryStore,
  MINUTE,
  type OverrideTable,
  RateLimitStoreError,
  type RateLimitStore,
  SECOND,
} from "../../../../../server/index.js";

const limits = {
  send: { kind: "token bucket", rate: 10, period: MINUTE },
  open: { kind: "token bucket", rate: 10, period: MINUTE, whenStoreFails: "allow" },
  leased: { kind: "token bucket", rate: 6000, period: MINUTE, lease: { ms: SECOND } },
  few: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 1, rememberDenials: MINUTE },
} as const;
const user = { key: "user" };

// The limiter's clock is a manual one. This one says how old the table is.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** A store whose reads of the table are counted, and can fail or wait. */
function countedStore(inner: RateLimitStore = memoryStore() as RateLimitStore) {
  const reads = { count: 0, failure: undefined as Error | undefined, gate: Promise.resolve() };
  const overrides: OverrideTable = {
    ...inner.overrides!,
    async read() {
      reads.count++;
      await reads.gate;
      if (reads.failure !== undefined) throw reads.failure;
      return inner.overrides!.read();
    },
  };
  const store: RateLimitStore = {
    ...inner,
    overrides,
    async apply(...args) {
      if (reads.failure !== undefined) throw reads.failure;
      return inner.apply(...args);
    },
  };
  return { store, reads, inner };
}

function create(
  more: { channel?: ChangeChannel; overridesFor?: number; inner?: RateLimitStore } = {},
) {
  const { inner, ...options } = more;
  const counted = countedStore(inner);
  const clock = createManualClock();
  const logger = { error: vi.fn(), warn: vi.fn() };
  const shared = { clock, limits, overrides: true, logger, ...options } as const;
  return {
    ...counted,
    clock,
    logger,
    limiter: createRateLimiter({ store: counted.store, ...shared }),
  };
}

function createChannel() {
  const listeners = new Set<ChangeListener>();
  const open = (): ChangeChannel => {
    const own = new Set<ChangeListener>();
    return {
      publish: (digest) =>
        listeners.forEach((listener) => void (own.has(listener) || listener(digest))),
      subscribe(listener) {
        own.add(listener);
        listeners.add(listener);
        return () => void (own.delete(listener), listeners.delete(listener));
      },
    };
  };
  return { open, listeners };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe("the table of overrides", () => {
  it("is not read without the option", async () => {
    const { store, reads } = countedStore();
    const limiter = createRateLimiter({ store, limits });
    await limiter.limit("send", user);
    await limiter.list("send", { denied: true });
    await limiter.forget("user");
    await limiter.prune();
    expect(reads.count).toBe(0);
  });

  it("is read once by many calls, and then by none while it is young", async () => {
    const { limiter, reads } = create();
    await Promise.all(Array.from({ length: 50 }, () => limiter.check("send", user)));
    vi.advanceTimersByTime(4999);
    await limiter.check("send", user);
    expect(reads.count).toBe(1);
  });

  it("is read beside the calls before it is old, so that none of them waits", async () => {
    const { limiter, reads } = create();
    await limiter.check("send", user);
    let open = () => {};
    reads.gate = new Promise((resolve) => (open = resolve));
    vi.advanceTimersByTime(5000);
    for (let i = 0; i < 3; i++) await limiter.check("send", user);
    expect(reads.count).toBe(2);
    open();
    await settled();
    vi.advanceTimersByTime(4999);
    await limiter.check("send", user);
    expect(reads.count).toBe(2);
  });

  it("lets another process obey after overridesFor at the latest", async () => {
    const { limiter, inner } = create();
    const other = createRateLimiter({
      store: inner,
      clock: limiter.clock,
      limits,
      overrides: true,
    });
    await limiter.check("send", user);
    await other.overrides.set("send", { ...user, blocked: true });
    expect((await limiter.limit("send", user)).ok).toBe(true);
    vi.advanceTimersByTime(10_000);
    expect((await limiter.limit("send", user)).ok).toBe(false);
    await other.overrides.clear("send", user);
    vi.advanceTimersByTime(10_000);
    expect((await limiter.limit("send", user)).ok).toBe(true);
  });

  it("is read at once after news, also if a read was under way", async () => {
    const channel = createChannel();
    const { limiter, inner, reads } = create({ channel: channel.open() });
    const options = { clock: limiter.clock, limits, overrides: true } as const;
    const other = createRateLimiter({ store: inner, channel: channel.open(), ...options });
    await limiter.check("send", user);
    let open = () => {};
    reads.gate = new Promise((resolve) => (open = resolve));
    vi.advanceTimersByTime(5000);
    await limiter.check("send", user);
    expect(reads.count).toBe(2);
    await other.overrides.set("send", { ...user, blocked: true });
    const answer = limiter.limit("send", user);
    open();
    expect((await answer).ok).toBe(false);
    expect(reads.count).toBe(3);
  });

  it("is read again after forget only where that has deleted an override", async () => {
    const channel = createChannel();
    const { limiter, inner, reads } = create({ channel: channel.open() });
    const other = createRateLimiter({
      store: inner,
      clock: limiter.clock,
      limits,
      overrides: true,
    });
    await other.overrides.set("send", { ...user, blocked: true });
    const news = vi.fn();
    channel.listeners.add(news);
    const readsOfCheck = async () => {
      const before = reads.count;
      await limiter.check("send", user);
      return reads.count - before;
    };
    expect(await readsOfCheck()).toBe(1);
    await limiter.forget("another user");
    expect([await readsOfCheck(), news.mock.calls.length]).toEqual([0, 0]);
    await limiter.forget(user.key);
    expect([await readsOfCheck(), news.mock.calls.length]).toEqual([1, 1]);
  });

  it("is obeyed by its own process before the call that changes it resolves", async () => {
    const { limiter } = create({ overridesFor: MINUTE });
    for (let i = 0; i < 5; i++) {
      await limiter.overrides.set("send", { ...user, blocked: true });
      expect((await limiter.check("send", user)).ok).toBe(false);
      await limiter.overrides.clear("send", user);
      expect((await limiter.check("send", user)).ok).toBe(true);
    }
  });

  it("ends what the process holds of the limit: blocks, and denials that it remembers", async () => {
    const { limiter } = create();
    expect((await limiter.limit("few", user)).ok).toBe(true);
    expect((await limiter.limit("few", user)).ok).toBe(false);
    expect(await limiter.limit("few", user)).toMatchObject({ remembered: true });
    await limiter.overrides.set("few", { ...user, unlimited: true });
    expect((await limiter.limit("few", user)).ok).toBe(true);
    await limiter.overrides.set("few", { ...user, blocked: true });
    expect(await limiter.limit("few", user)).toEqual({ ok: false, retryAfter: 8e15, value: 0 });
    await limiter.overrides.clear("few", user);
    expect((await limiter.limit("few", user)).ok).toBe(false);

    for (let i = 0; i < 3; i++) await limiter.limit("leased", user);
    await limiter.overrides.set("leased", { ...user, blocked: true });
    expect((await limiter.limit("leased", user)).ok).toBe(false);
    const one = { kind: "token bucket", rate: 1, period: MINUTE } as const;
    await limiter.overrides.set("leased", { ...user, config: one });
    // More was used than this config allows. What is left of the block serves no call.
    expect((await limiter.limit("leased", user)).ok).toBe(false);
  });

  it("fails calls that would have to wait for it, and then recovers", async () => {
    const { limiter, reads } = create();
    reads.failure = new RateLimitStoreError("down");
    await expect(limiter.limit("send", user)).rejects.toThrow("down");
    expect(await limiter.limit("open", user)).toMatchObject({ ok: true, storeFailed: true });
    const first = limiter.limitFirst(["send", "open"], user);
    expect(await first).toMatchObject({ ok: true, results: [{ storeFailed: true }] });
    const all = limiter.limitAll([{ name: "send" }, { name: "open" }]);
    await expect(all).rejects.toThrow("down");
    const both = [{ name: "send" }, { name: "open" }] as const;
    await expect(limiter.limitAll(both)).rejects.toThrow("down");
    reads.failure = undefined;
    await limiter.overrides.set("open", { ...user, blocked: true });
    expect((await limiter.limit("send", user)).ok).toBe(true);
    reads.failure = new RateLimitStoreError("down");
    vi.advanceTimersByTime(MINUTE);
    // What is known still counts.
    expect((await limiter.limit("open", user)).ok).toBe(false);
    expect(await limiter.limit("open", { key: "other" })).toMatchObject({ storeFailed: true });
  });

  it("may have rows that this version does not know, and says so once", async () => {
    const { limiter, store, logger } = create();
    for (const rule of [
      '{"fewer":3}',
      "[",
      '{"config":{"kind":"leaky"}}',
      "null",
      '{"times":-1}',
    ]) {
      await store.overrides!.write({ name: "send", key: rule, rule, until: 8e15, setAt: 0 });
    }
    await store.overrides!.write({
      name: "send",
      key: "user",
      rule: '{"blocked":true}',
      until: 8e15,
      setAt: 0,
    });
    expect((await limiter.limit("send", user)).ok).toBe(false);
    expect((await limiter.limit("send", { key: "[" })).ok).toBe(true);
    expect(await limiter.overrides.list()).toHaveLength(1);
    expect(logger.warn).toHaveBeenCalledTimes(1);
    expect(logger.warn.mock.calls[0]![0]).toContain(
      'an override of "send" in the table is not valid',
    );
  });
});
