import { createManualClock } from "../../../../testing/index.js";
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  HOUR,
  type LimitItem,
  memoryStore,
  MINUTE,
  type RateLimiter,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const START = Date.UTC(2030, 0, 1);
const limits = {
  send: { kind: "token bucket", rate: 6, period: MINUTE, capacity: 2 },
  part: { kind: "token bucket", rate: 0.5, period: MINUTE },
} as const;

async function allDenied(limiter: RateLimiter<typeof limits>, count: number): Promise<LimitItem[]> {
  const items: LimitItem[] = [];
  let after: string | undefined;
  do {
    const page = await limiter.list("send", { denied: true, count, after });
    expect(page.items.length).toBeLessThanOrEqual(count);
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

const keysOf = (items: readonly LimitItem[]) => items.map(({ key }) => key ?? "").toSorted();

describe.each(storesAndRedis)("a list of who is limited on %s", (_, open) => {
  it("has exactly the keys whose next call would be denied, each once, at any page size", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, { now: START, overrides: true });
    for (let i = 0; i < 20; i++) {
      await limiter.limit("send", { key: `user ${i}`, count: i % 2 === 0 ? 2 : 1 });
    }
    await limiter.charge("send", { count: 5 });
    await limiter.overrides.set("send", { key: "user 1", blocked: true, until: START + HOUR });
    await limiter.overrides.set("send", { key: "stranger", blocked: true });
    await limiter.overrides.set("send", { key: "user 4", unlimited: true });
    await limiter.overrides.set("send", { key: "user 6", blocked: true, until: START + 5 });
    clock.advance(5);
    const even = [0, 2, 6, 8, 10, 12, 14, 16, 18].map((i) => `user ${i}`);
    const expected = ["", "stranger", "user 1", ...even].toSorted();
    for (const count of [1, 2, 3, 7, 12, 100]) {
      expect(keysOf(await allDenied(limiter, count))).toEqual(expected);
    }
    const items = new Map((await allDenied(limiter, 5)).map((item) => [item.key, item]));
    expect(items.get("user 1")).toMatchObject({
      value: 0,
      retryAfter: HOUR - 5,
      override: { blocked: true },
    });
    expect(items.get("stranger")).toMatchObject({ retryAfter: 8e15 });
    expect(items.get("user 2")).toMatchObject({ retryAfter: 10_000 - 5 });
    expect(items.get(undefined)).toMatchObject({ retryAfter: 40_000 - 5 });
    clock.advance(10_000 - 5);
    expect(keysOf(await allDenied(limiter, 100))).toEqual(["", "stranger", "user 1"]);
    // The whole list says which keys have an override.
    const all = await limiter.list("send");
    const exempt = all.items.find(({ key }) => key === "user 4");
    expect(exempt).toMatchObject({ override: { unlimited: true }, value: 2 });
  });
});

describe("a list of who is limited", () => {
  it("goes by the config that counts for each key", async () => {
    const clock = createManualClock(START);
    const limiter = createRateLimiter({ store: memoryStore(), clock, limits, overrides: true });
    for (const key of ["raised", "other"]) await limiter.limit("send", { key, count: 2 });
    await limiter.overrides.set("send", { key: "raised", times: 10 });
    clock.advance(2000);
    const { items } = await limiter.list("send", { denied: true });
    expect(keysOf(items)).toEqual(["other"]);
    await limiter.limit("part", { key: "small", count: 0.1 });
    expect((await limiter.list("part", { denied: true })).items).toMatchObject([{ key: "small" }]);
  });

  it("works without overrides", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    await limiter.limit("send", { key: "empty", count: 2 });
    await limiter.limit("send", { key: "half" });
    const { items, next } = await limiter.list("send", { denied: true });
    expect(items).toMatchObject([{ key: "empty" }]);
    expect(next).toBe(undefined);
  });

  it("reads no more than a page and one key, where all keys are limited", async () => {
    const store = memoryStore();
    const limiter = createRateLimiter({ store, clock: () => START, limits });
    const keys = Array.from({ length: 3000 }, (_, i) => `user ${i}`);
    await Promise.all(keys.map((key) => limiter.limit("send", { key, count: 2 })));
    const read: number[] = [];
    const { list } = store;
    store.list = (name, after, count, ...of) => {
      read.push(count);
      return list!.call(store, name, after, count, ...of);
    };
    const { items, next } = await limiter.list("send", { denied: true, count: 50 });
    expect([items.length, next !== undefined, read]).toEqual([50, true, [51]]);
    // Where few are limited, it reads more at a time.
    await Promise.all(keys.slice(1).map((key) => limiter.reset("send", { key })));
    await Promise.all(keys.slice(1).map((key) => limiter.limit("send", { key })));
    read.length = 0;
    expect((await limiter.list("send", { denied: true, count: 50 })).items).toHaveLength(1);
    expect(read).toEqual([51, 1000, 1000, 1000]);
  });

  it("stops after so many rows, and goes on there", async () => {
    const clock = createManualClock(START);
    const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
    const keys = Array.from({ length: 20_500 }, (_, i) => String(i).padStart(6, "0"));
    await Promise.all(keys.map((key) => limiter.limit("send", { key })));
    await limiter.limit("send", { key: "020400" });
    const first = await limiter.list("send", { denied: true });
    expect(first.items).toEqual([]);
    const second = await limiter.list("send", { denied: true, after: first.next });
    expect(second).toMatchObject({ items: [{ key: "020400" }], next: undefined });
  });
});
