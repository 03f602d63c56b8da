/** `autoPrune` without a timer, of an application whose calls are all in transactions. */
import { describe, expect, it, vi } from "vitest";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../../server/index.js";
import { stores } from "../../support/stores.js";

const limits = {
  send: { kind: "token bucket", rate: 9, period: HOUR },
  running: { kind: "concurrency", slots: 9 },
} as const;

const withTransactions = stores.filter(([name]) => name !== "memory");

/** A process remembers when the turn of limits of these names and of this interval is due. */
let every = HOUR;

describe.each(withTransactions)("with waitUntil, on %s", (_, open) => {
  async function setUp() {
    const opened = await open();
    const handed: Promise<unknown>[] = [];
    const events: string[] = [];
    const store = opened.store as RateLimitStore<object>;
    const prune = vi.fn(store.prune!.bind(store));
    const limiter = createRateLimiter({
      store: { ...store, prune },
      limits,
      waitUntil: (promise) => {
        events.push("turn");
        handed.push(promise);
      },
      autoPrune: { every: every++ },
      onDecision: ({ action }) => void events.push(action),
    });
    const pruned = async () => {
      await Promise.all(handed);
      return prune.mock.calls.length;
    };
    return {
      store,
      limiter,
      events,
      pruned,
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  it("takes a turn after a transaction, and not while it holds a connection", async () => {
    await using at = await setUp();
    const { limiter, events, pruned } = at;
    for (let i = 0; i < 2; i++) {
      await limiter.transaction(async ({ limit }) => {
        await limit("send");
        events.push("end");
      });
    }
    expect(events).toEqual(["limit", "end", "turn", "limit", "end"]);
    expect(await pruned()).toBe(1);
  });

  it("takes a turn after a transaction that was rolled back", async () => {
    await using at = await setUp();
    const { limiter, pruned } = at;
    const failing = limiter.transaction(async ({ limit }) => {
      await limit("send");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await pruned()).toBe(1);
  });

  it("takes a turn for calls in a transaction that the caller owns", async () => {
    await using at = await setUp();
    const { store, limiter, pruned } = at;
    await store.transaction!(async (tx) => {
      await limiter.using(tx as never).limit("send");
    }, {});
    expect(await pruned()).toBe(1);
    expect((await limiter.getValue("send")).value).toBeCloseTo(8, 1);
  });

  it("takes a turn for calls that enter a slot", async () => {
    await using at = await setUp();
    const { limiter, pruned } = at;
    await using slot = await limiter.enter("running");
    expect(slot.ok).toBe(true);
    expect(await pruned()).toBe(1);
  });
});
