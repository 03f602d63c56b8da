import { createManualClock } from "../../../../../testing/index.js";
import { describe, expect, it, vi } from "vitest";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitConfig,
  SECOND,
} from "../../../../../server/index.js";
import { storesAndRedis } from "../../../../support/stores.js";
import { twoProcesses } from "../../../../support/two-processes.js";

const START = Date.UTC(2030, 0, 1);
const own = { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 } as const;
const tier = { ...own, capacity: 20 } as const;
const special = { ...own, capacity: 50 } as const;
const everyone = { ...own, capacity: 7 } as const;
const limits = {
  send: own,
  window: { kind: "fixed window", rate: 5, period: HOUR },
  split: { ...own, capacity: 40, rate: 40, shards: 4 },
  owing: { ...own, maxReserved: 30 },
  shadow: { ...own, shadow: true },
  closing: { ...own, blockFor: MINUTE },
  striking: { ...own, blockFor: [MINUTE, HOUR] },
  daily: { kind: "fixed window", rate: 5, period: "day", timeZone: "Europe/Berlin" },
} as const;

function create(more: { hashKey?: (key: string) => string } = {}) {
  const clock = createManualClock(START);
  const store = memoryStore();
  const limiter = createRateLimiter({ store, clock, limits, overrides: true, ...more });
  return { limiter, clock, store };
}

/** The precedence for `key: "user"`: which config applies, and which calls are denied. */
const PRECEDENCE: {
  ofKey?: "config" | "times" | "blocked" | "unlimited";
  inline?: boolean;
  ofAll?: "config" | "times" | "blocked" | "unlimited";
  gives: number | "blocked" | "unlimited";
}[] = [
  { gives: 3 },
  { inline: true, gives: 20 },
  { ofAll: "config", gives: 7 },
  { ofAll: "times", gives: 6 },
  { ofAll: "blocked", gives: "blocked" },
  { ofAll: "unlimited", gives: "unlimited" },
  { inline: true, ofAll: "config", gives: 20 },
  { inline: true, ofAll: "times", gives: 20 },
  { inline: true, ofAll: "blocked", gives: 20 },
  { inline: true, ofAll: "unlimited", gives: 20 },
  { ofKey: "config", gives: 50 },
  { ofKey: "times", gives: 6 },
  { ofKey: "blocked", gives: "blocked" },
  { ofKey: "unlimited", gives: "unlimited" },
  { ofKey: "config", inline: true, gives: 50 },
  { ofKey: "times", inline: true, gives: 40 },
  { ofKey: "blocked", inline: true, gives: "blocked" },
  { ofKey: "unlimited", inline: true, gives: "unlimited" },
  { ofKey: "config", ofAll: "blocked", gives: 50 },
  { ofKey: "times", ofAll: "config", gives: 14 },
  { ofKey: "times", ofAll: "times", gives: 12 },
  { ofKey: "times", ofAll: "blocked", gives: 6 },
  { ofKey: "times", ofAll: "unlimited", gives: 6 },
  { ofKey: "unlimited", ofAll: "blocked", gives: "unlimited" },
  { ofKey: "blocked", ofAll: "unlimited", gives: "blocked" },
  { ofKey: "times", inline: true, ofAll: "config", gives: 40 },
];

function ruleOf(kind: "config" | "times" | "blocked" | "unlimited", config: RateLimitConfig) {
  if (kind === "config") return { config };
  if (kind === "times") return { times: 2 };
  return kind === "blocked" ? ({ blocked: true } as const) : ({ unlimited: true } as const);
}

describe("the config of a call", () => {
  it.each(PRECEDENCE)(
    "is, with %o, that of the precedence",
    async ({ ofKey, inline, ofAll, gives }) => {
      const { limiter } = create();
      if (ofAll) await limiter.overrides.set("send", ruleOf(ofAll, everyone));
      if (ofKey) await limiter.overrides.set("send", { key: "user", ...ruleOf(ofKey, special) });
      // It must change nothing.
      await limiter.overrides.set("send", { key: "another", blocked: true });
      const call = { key: "user", ...(inline && { config: tier }) };
      for (let twice = 0; twice < 2; twice++) {
        const config = limiter.configOf("send", call);
        if (typeof gives === "number") expect(config.capacity).toBe(gives);
        expect(config.shadow === true).toBe(gives === "unlimited");
        expect(config.starts !== undefined).toBe(gives === "blocked");
      }
      const granted = await Promise.all(
        Array.from({ length: 60 }, () => limiter.limit("send", call)),
      );
      const expected = gives === "unlimited" ? 60 : gives === "blocked" ? 0 : gives;
      expect(granted.filter(({ ok }) => ok).length).toBe(expected);
    },
  );
});

describe.each(storesAndRedis)("an override on %s", (_, open) => {
  it("blocks a key until an instant, to the ms, and no other key", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, { now: START, overrides: true });
    await limiter.overrides.set("send", { key: "user", blocked: true, until: START + HOUR });
    const denied = { ok: false, retryAfter: HOUR, value: 0 };
    expect(await limiter.limit("send", { key: "user" })).toEqual(denied);
    expect(await limiter.limit("send", { key: "user", count: 0 })).toEqual(denied);
    expect(await limiter.check("send", { key: "user" })).toEqual(denied);
    expect(await limiter.limit("owing", { key: "user" })).toMatchObject({ ok: true });
    expect(await limiter.limit("send", { key: "User" })).toMatchObject({ ok: true, value: 2 });
    expect(await limiter.limit("send")).toMatchObject({ ok: true });
    clock.advance(HOUR - 1);
    expect(await limiter.limit("send", { key: "user" })).toEqual({ ...denied, retryAfter: 1 });
    clock.advance(1);
    expect(await limiter.limit("send", { key: "user" })).toMatchObject({ ok: true, value: 2 });
  });

  it("is obeyed by a store of another process, and ends when it is cleared", async () => {
    await using opened = await open();
    const clock = createManualClock(START);
    const options = { clock, limits, overrides: true, overridesFor: 0 } as const;
    const limiter = createRateLimiter({ store: opened.store, ...options });
    const other = createRateLimiter({ store: opened.peer, ...options });
    expect((await other.limit("send", { key: "user", count: 3 })).ok).toBe(true);
    await limiter.overrides.set("send", { key: "user", unlimited: true });
    const exempt = await other.limit("send", { key: "user", count: 1000 });
    expect(exempt).toEqual({ ok: true, value: 3, ts: START });
    expect(await other.overrides.clear("send", { key: "user" })).toBe(true);
    expect(await other.overrides.clear("send", { key: "user" })).toBe(false);
    expect((await limiter.limit("send", { key: "user" })).ok).toBe(false);
    expect(await limiter.overrides.list()).toEqual([]);
  });

  it("counts in limitAll beside limits without one: all are charged, or none", async () => {
    const { limiter } = await twoProcesses(open, limits, { now: START, overrides: true });
    const items = [
      { name: "send", key: "user" },
      { name: "window", key: "user", count: 2 },
      { name: "split", key: "user" },
    ] as const;
    await limiter.overrides.set("send", { key: "user", unlimited: true });
    for (let i = 0; i < 2; i++) expect((await limiter.limitAll(items)).ok).toBe(true);
    expect(await limiter.limitAll(items)).toMatchObject({ ok: false, name: "window" });
    expect(await limiter.getValue("window", { key: "user" })).toMatchObject({ value: 1 });
    await limiter.overrides.set("window", { key: "user", blocked: true, until: START + DAY });
    const denied = await limiter.limitAll(items);
    expect(denied).toMatchObject({ ok: false, name: "window", retryAfter: DAY });
    await limiter.overrides.clear("window", { key: "user" });
    expect(await limiter.getValue("window", { key: "user" })).toMatchObject({ value: 1 });
    expect(await limiter.getValue("split", { key: "user" })).toMatchObject({ value: 38 });
  });

  it("goes with the key that is forgotten, and with what has ended", async () => {
    const { clock, limiter, store } = await twoProcesses(open, limits, {
      now: START,
      overrides: true,
    });
    await limiter.overrides.set("send", { key: "user", blocked: true });
    await limiter.overrides.set("window", { key: "user", times: 2, until: START + SECOND });
    await limiter.overrides.set("send", { key: "other", blocked: true });
    await limiter.overrides.set("send", { times: 3, until: START + SECOND });
    await limiter.limit("window", { key: "user" });
    expect(await limiter.forget("user")).toBe(3);
    const named = async () =>
      (await limiter.overrides.list()).map(({ key }) => key ?? "all").toSorted();
    expect(await named()).toEqual(["all", "other"]);
    expect((await limiter.limit("send", { key: "user", count: 3 })).ok).toBe(true);
    clock.advance(2 * MINUTE);
    expect(await named()).toEqual(["other"]);
    expect((await store.overrides!.read()).length).toBe(2);
    await limiter.prune();
    expect((await store.overrides!.read()).length).toBe(1);
  });
});

describe("a key that is blocked", () => {
  it("is denied whatever it asks for, and its row keeps what it has", async () => {
    const { limiter } = create();
    const user = { key: "user" };
    await limiter.limit("owing", { ...user, count: 2 });
    await limiter.overrides.set("owing", { ...user, blocked: true });
    expect(await limiter.limit("owing", { ...user, reserve: true, count: 20 })).toEqual({
      ok: false,
      retryAfter: 8e15,
      value: 0,
    });
    await expect(limiter.acquire("owing", user)).rejects.toThrow("exceeded");
    await limiter.charge("owing", { ...user, count: 1 });
    await limiter.overrides.clear("owing", user);
    expect(await limiter.getValue("owing", user)).toMatchObject({ value: 0 });
    await limiter.overrides.set("owing", { ...user, blocked: true });
    await limiter.reset("owing", user);
    expect(await limiter.getValue("owing", user)).toMatchObject({ value: 0 });
    await limiter.overrides.clear("owing", user);
    expect(await limiter.getValue("owing", user)).toMatchObject({ value: 3 });
  });

  it("is denied by a shadow, too, and in every kind of limit", async () => {
    const { limiter } = create();
    for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
      await limiter.overrides.set(name, { key: "user", blocked: true, until: START + 5 });
      const answer = await limiter.limit(name, { key: "user" });
      expect([name, answer]).toEqual([name, { ok: false, retryAfter: 5, value: 0 }]);
    }
  });

  it("does not ask the store, in any kind of limit, nor does an exempt one", async () => {
    const { limiter, store } = create();
    const apply = vi.spyOn(store, "apply");
    for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
      await limiter.overrides.set(name, { key: "user", blocked: true });
      expect(await limiter.limit(name, { key: "user" })).toMatchObject({ ok: false });
      await limiter.overrides.set(name, { key: "user", unlimited: true });
      expect(await limiter.limitAll([{ name, key: "user" }])).toMatchObject({ ok: true });
    }
    expect(apply).not.toHaveBeenCalled();
  });

  it("is shown to pages with the instant at which it opens", async () => {
    const { limiter } = create();
    await limiter.overrides.set("split", { key: "user", blocked: true, until: START + HOUR });
    await limiter.overrides.set("send", { blocked: true });
    const snapshots = await limiter.snapshots([
      { name: "split", key: "user" },
      { name: "send", key: "user" },
    ]);
    expect(snapshots[0]).toMatchObject({
      value: 0,
      config: { capacity: 40, starts: [START + HOUR] },
    });
    expect(snapshots[0]!.config.shards).toBe(undefined);
    expect(snapshots[1]).toMatchObject({ value: 0, config: { starts: [] } });
  });

  it("cannot be used in a transaction either", async () => {
    const { limiter } = create();
    await limiter.overrides.set("send", { key: "user", blocked: true });
    const inside = await limiter.transaction(({ limit }) => limit("send", { key: "user" }));
    expect(inside.ok).toBe(false);
  });
});

describe("a key that is exempt", () => {
  it("is never denied, and charges, refunds and settles nothing", async () => {
    const { limiter } = create();
    const user = { key: "user" };
    const before = await limiter.limit("send", { ...user, count: 2 });
    for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
      await limiter.overrides.set(name, { ...user, unlimited: true });
      const result = await limiter.limit(name, { ...user, count: 1e9, throws: true });
      await limiter.settle(result, 5e9);
      await limiter.settle(result, 0);
      await limiter.refund(name, { ...user, result, count: 1 });
      expect(await limiter.charge(name, { ...user, count: 1e30 })).toMatchObject({});
      const [snapshot] = await limiter.snapshots([{ name, ...user }]);
      expect(snapshot!.config.shadow).toBe(true);
      expect(snapshot!.value).toBe(snapshot!.config.capacity ?? snapshot!.config.rate);
      await limiter.overrides.clear(name, user);
    }
    expect(await limiter.getValue("send", user)).toMatchObject({ value: 1 });
    await limiter.overrides.set("send", { ...user, unlimited: true });
    // What was taken before comes back.
    await limiter.settle(before, 0);
    await limiter.overrides.clear("send", user);
    expect(await limiter.getValue("send", user)).toMatchObject({ value: 3 });
  });

  it("may give an id, which is not charged, and so not remembered", async () => {
    const { limiter } = create();
    const user = { key: "user" };
    await limiter.limit("send", { ...user, once: "before" });
    await limiter.overrides.set("send", { ...user, unlimited: true });
    const paid = { ...user, count: 500, once: "payment" };
    for (let i = 0; i < 3; i++) expect((await limiter.limit("send", paid)).ok).toBe(true);
    await limiter.overrides.set("send", { ...user, blocked: true });
    expect((await limiter.limit("send", paid)).ok).toBe(false);
    // What was charged before is not asked again.
    const again = await limiter.limit("send", { ...user, once: "before" });
    expect(again).toMatchObject({ ok: true, repeated: true });
    await limiter.overrides.clear("send", user);
    expect(await limiter.getValue("send", user)).toMatchObject({ value: 2 });
    expect(await limiter.limit("send", { ...paid, count: 1 })).toMatchObject({
      ok: true,
      value: 1,
    });
  });

  it("still has to give a count that is one", async () => {
    const { limiter } = create();
    await limiter.overrides.set("send", { key: "user", unlimited: true });
    await expect(limiter.limit("send", { key: "user", count: -1 })).rejects.toThrow(
      "count must be",
    );
    await expect(limiter.limit("send", { key: "" })).rejects.toThrow("key must");
  });
});

describe("a limit that was raised", () => {
  it("has what was used as used, so that nothing is granted twice", async () => {
    const { limiter, clock } = create();
    const user = { key: "user" };
    await limiter.limit("send", { ...user, count: 3 });
    await limiter.overrides.set("send", { ...user, times: 2 });
    expect(await limiter.limit("send", user)).toMatchObject({ ok: true, value: 2 });
    clock.advance(MINUTE);
    expect((await limiter.limit("send", { ...user, count: 6 })).ok).toBe(true);
    await limiter.overrides.clear("send", user);
    expect((await limiter.limit("send", user)).ok).toBe(false);
  });

  it("is not pruned while its row is full under its own config only", async () => {
    const { limiter, clock } = create();
    const user = { key: "user" };
    await limiter.overrides.set("send", { ...user, config: special });
    await limiter.limit("send", { ...user, count: 50 });
    clock.advance(90 * SECOND);
    expect(await limiter.prune()).toBe(0);
    expect((await limiter.getValue("send", user)).value).toBe(15);
    clock.advance(6 * MINUTE);
    expect(await limiter.prune()).toBe(1);
  });

  it("is not pruned while it is full under each override alone, and not under both", async () => {
    const { limiter, clock } = create();
    const user = { key: "user" };
    await limiter.overrides.set("send", { config: { ...special, rate: 10, capacity: 10 } });
    await limiter.overrides.set("send", { ...user, times: 10 });
    const before = await limiter.limit("send", { ...user, count: 60 });
    clock.advance(SECOND);
    const { value } = await limiter.getValue("send", user);
    expect(await limiter.prune()).toBe(0);
    expect((await limiter.getValue("send", user)).value).toBe(value);
    expect(before).toMatchObject({ ok: true, value: 40 });
  });

  it("hashes keys, so that the table has none of them", async () => {
    const { limiter, store } = create({ hashKey: (key) => `#${key.length}` });
    await limiter.overrides.set("send", { key: "me@example.com", blocked: true });
    expect((await store.overrides!.read()).map(({ key }) => key)).toEqual(["#14"]);
    expect((await limiter.limit("send", { key: "me@example.com" })).ok).toBe(false);
    expect(await limiter.overrides.get("send", { key: "me@example.com" })).toMatchObject({
      key: "#14",
      blocked: true,
    });
    expect(await limiter.overrides.get("send")).toBe(undefined);
    expect(await limiter.forget("me@example.com")).toBe(1);
    expect((await limiter.limit("send", { key: "me@example.com" })).ok).toBe(true);
  });
});
