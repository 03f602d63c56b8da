import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, SECOND } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { soon } from "../support/soon.js";

const LIMITS = {
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  windowed: { kind: "fixed window", rate: 3, period: HOUR },
  sharded: { kind: "token bucket", rate: 10, period: HOUR, shards: 10 },
  owing: { kind: "token bucket", rate: 10, period: SECOND, maxReserved: 30 },
} as const;
type Name = keyof typeof LIMITS;

/** An observer with the server's time, that knows the state. */
async function startKnowing(name: Name, taken = 0) {
  const clock = createManualClock();
  const app = await startLimitServer(LIMITS, { clock });
  if (taken > 0) await app.limiter.limit(name, { count: taken, reserve: true });
  const observer = app.observer({ clock });
  const onChange = vi.fn();
  observer.observe({ name }, 1, onChange, () => true);
  await soon(() => expect(observer.connection).toBe("live"));
  await soon(() => expect(app.server.open("rateLimit.status")).toBe(0));
  onChange.mockClear();
  return {
    ...app,
    clock,
    observer,
    onChange,
    /** Asks a second time, and resolves with the answer. */
    async refresh() {
      observer.refresh();
      await soon(() => expect(app.server.requests("rateLimit.status")).toBe(2));
      await soon(() => expect(app.server.open("rateLimit.status")).toBe(0));
    },
    /** Tokens that remain now. */
    value: () => observer.check({ name }, clock(), 0)!.value,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe.concurrent("a debit", () => {
  it("takes tokens at once, notifies watchers, and is confirmed by the server", async () => {
    const item = { name: "hourly" };
    await using page = await startKnowing("hourly");
    page.observer.debit(item, 3);
    expect(page.onChange).toHaveBeenCalledTimes(1);
    expect(page.observer.remaining(item)).toBe(0);
    const expected = { ok: false, retryAt: page.clock() + HOUR };
    expect(page.observer.status(item, 1)).toEqual(expected);
    await page.limiter.limit("hourly", { count: 3 });
    await page.refresh();
    expect(page.observer.status(item, 1)).toEqual(expected);
    expect(page.onChange).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["hourly", 0, 2, 1],
    ["windowed", 1, 2, 0],
    ["sharded", 0, 4, 6],
    ["owing", 25, 5, -20],
  ] as const)("of %s, with %d taken before, by %d, leaves %d", async (name, taken, count, left) => {
    await using page = await startKnowing(name, taken);
    const before = page.value();
    const giveBack = page.observer.debit({ name }, count);
    expect(page.value()).toBe(left);
    giveBack();
    expect(page.value()).toBe(before);
    giveBack();
    expect(page.value()).toBe(before);
  });

  it("is given back as if it had never been there, whatever happened since", async () => {
    await using page = await startKnowing("hourly");
    const giveBack = page.observer.debit({ name: "hourly" }, 1);
    page.clock.advance(HOUR);
    page.observer.debit({ name: "hourly" }, 1);
    expect(page.value()).toBe(2);
    page.clock.advance(HOUR / 2);
    giveBack();
    // The bucket was full when the second was taken, with or without the first.
    expect(page.value()).toBe(2.5);
  });

  it("stands beside a later state that does not include it", async () => {
    const item = { name: "hourly" };
    await using page = await startKnowing("hourly");
    const giveBack = page.observer.debit(item, 2);
    page.clock.advance(1000);
    await page.refresh();
    expect(page.observer.remaining(item)).toBe(1);
    giveBack();
    await soon(() => expect(page.observer.remaining(item)).toBe(3));
  });

  it("is replaced by a state that includes it, and then cannot be given back any more", async () => {
    const item = { name: "hourly" };
    await using page = await startKnowing("hourly");
    const giveBack = page.observer.debit(item, 2);
    await page.limiter.limit("hourly", { count: 2 });
    page.clock.advance(1);
    await page.refresh();
    giveBack();
    expect(page.observer.remaining(item)).toBe(1);
  });

  it("is replaced by any state when no call can be so late", async () => {
    const item = { name: "hourly" };
    await using page = await startKnowing("hourly");
    const giveBack = page.observer.debit(item, 3);
    page.clock.advance(1500);
    page.observer.refresh();
    await soon(() => expect(page.observer.remaining(item)).toBe(3));
    giveBack();
    expect(page.observer.remaining(item)).toBe(3);
  });

  it("survives a snapshot that was read before it", async () => {
    const item = { name: "hourly" };
    await using page = await startKnowing("hourly");
    const release = page.server.delay("rateLimit.status");
    page.observer.refresh();
    await soon(() => expect(page.server.open("rateLimit.status")).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    page.clock.advance(1);
    page.observer.debit(item, 3);
    release();
    await soon(() => expect(page.server.open("rateLimit.status")).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(page.observer.remaining(item)).toBe(0);
  });

  it("does nothing while the limit is unknown, and throws for an invalid count", async () => {
    await using page = await startKnowing("hourly");
    page.observer.debit({ name: "windowed" }, 1)();
    expect(page.observer.check({ name: "windowed" }, page.clock(), 1)).toBeUndefined();
    for (const count of [-1, NaN, Infinity]) {
      expect(() => page.observer.debit({ name: "hourly" }, count)).toThrow(/count must be/);
    }
    expect(page.value()).toBe(3);
  });
});
