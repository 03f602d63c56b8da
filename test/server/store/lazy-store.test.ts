import { describe, expect, it, vi } from "vitest";
import {
  createRateLimiter,
  lazyStore,
  memoryStore,
  MINUTE,
  type RateLimitStore,
} from "../../../server/index.js";
import { stores } from "../../support/stores.js";
import { describeStore } from "./contract.js";

/** It passes calls on as they are, whatever the database. One has transactions of a pool. */
const SOME = stores.filter(([name]) => ["memory", "PostgreSQL through pg"].includes(name));

describe.each(SOME)("lazyStore on %s", (_name, open) => {
  describeStore("the store that it opens", async () => {
    const opened = await open();
    return {
      store: lazyStore(() => opened.store),
      close: () => opened[Symbol.asyncDispose](),
    };
  });
});

const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

describe("lazyStore", () => {
  it("opens its store once, with the first call", async () => {
    const open = vi.fn(() => memoryStore());
    const limiter = createRateLimiter({ store: lazyStore(open), limits, autoPrune: true });
    expect(open).not.toHaveBeenCalled();
    const calls = await Promise.all([limiter.limit("once"), limiter.limit("once")]);
    expect(calls.map(({ ok }) => ok)).toEqual([true, false]);
    expect(open).toHaveBeenCalledTimes(1);
  });

  it("fails calls that come too early, says why, and serves those that come later", async () => {
    let store: RateLimitStore | undefined;
    const limiter = createRateLimiter({
      store: lazyStore(() => {
        if (store === undefined) throw new Error("call keepLimitsIn(db) first");
        return store;
      }),
      limits,
      logger: false,
    });
    await expect(limiter.limit("once")).rejects.toThrow(/call keepLimitsIn\(db\) first/);
    store = memoryStore() as RateLimitStore;
    expect(await limiter.limit("once")).toMatchObject({ ok: true });
  });

  it("reports batches and errors of the pool to a limiter that was made before", async () => {
    const onBatch = vi.fn();
    const failPool: ((error: unknown) => void)[] = [];
    const warn = vi.fn();
    const inner: RateLimitStore = memoryStore() as RateLimitStore;
    const store = lazyStore(() => ({
      ...inner,
      onBatch(listener) {
        listener({ kind: "test" } as never);
        return () => {};
      },
      onPoolError(listener) {
        failPool.push(listener);
        return () => {};
      },
    }));
    const logger = { info: warn, warn, error: warn };
    const limiter = createRateLimiter({ store, limits, onBatch, logger });
    await limiter.limit("once");
    expect(onBatch).toHaveBeenCalledTimes(1);
    failPool[0]!(new Error("the connection has ended"));
    expect(warn).toHaveBeenCalled();
  });

  it("prunes and lists, and runs transactions", async () => {
    const limiter = createRateLimiter({ store: lazyStore(() => memoryStore()), limits });
    expect(await limiter.prune()).toBe(0);
    await limiter.limit("once", { key: "ann" });
    expect((await limiter.list("once")).items).toMatchObject([{ key: "ann" }]);
    const inside = await limiter.transaction(async ({ limit }) => limit("once"));
    expect(inside).toMatchObject({ ok: true });
  });

  it("refuses what opens no store", async () => {
    expect(() => lazyStore(undefined as never)).toThrow(/"open"|open/);
    const limiter = createRateLimiter({ store: lazyStore(() => ({}) as never), limits });
    await expect(limiter.limit("once")).rejects.toThrow("a function that returns a store");
  });
});
