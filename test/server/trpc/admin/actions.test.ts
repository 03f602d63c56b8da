/** The changes that operators make, on the limits of each kind. */
import { describe, expect, it } from "vitest";
import {
  DAY,
  HOUR,
  type LimitConfigs,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
} from "../../../../server/index.js";
import { asJson, openAdmin, openAdminOn } from "../../../support/admin-caller.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  bucket: { kind: "token bucket", rate: 2, period: HOUR },
  window: { kind: "fixed window", rate: 2, period: HOUR, start: 0 },
  month: { kind: "fixed window", rate: 2, period: "month", timeZone: "Europe/Paris" },
  shards: { kind: "token bucket", rate: 8, period: HOUR, shards: 4 },
  counted: { kind: "token bucket", rate: 2, period: HOUR, usage: true },
  leased: { kind: "token bucket", rate: 1000, period: HOUR, lease: { ms: 1000 } },
  closing: { kind: "token bucket", rate: 2, period: HOUR, blockFor: [HOUR, DAY] },
} as const satisfies LimitConfigs;
const names = Object.keys(limits) as (keyof typeof limits)[];
const others = {
  ...limits,
  credits: { kind: "credits" },
  slots: { kind: "concurrency", slots: 2 },
} as const satisfies LimitConfigs;

/** Not those of other tests in the same database. */
let keys = 0;
const ODD = ["a/b?c=d&e#f", "käse 🧀 '; --", '%2F\\"', "a\nb\tc", "ß".repeat(150)];

describe.each(storesAndRedis)("an operator on %s", (_, open) => {
  it.each(names)("bans, exempts, raises, clears and resets a key of %s", async (name) => {
    const { limiter, heard, admin } = await openAdminOn(open, limits);
    const key = `key ${keys++} ${name}`;
    const to = { name, key };
    const ask = () => limiter.limit(name, { key });

    const banned = await admin.ban(to);
    expect(banned.item).toMatchObject({
      key,
      override: { blocked: true },
      since: banned.overrides![0]!.setAt,
    });
    expect(banned.item.retryAfter).toBeGreaterThan(HOUR - MINUTE);
    expect(banned.item.retryAfter).toBeLessThanOrEqual(HOUR);
    expect(await ask()).toMatchObject({ ok: false });

    const exempted = await admin.exempt(to);
    expect(exempted).toMatchObject({ overrides: [{ unlimited: true }, { blocked: true }] });
    expect(exempted.item.retryAfter).toBeUndefined();
    for (let call = 0; call < 20; call++) expect(await ask()).toMatchObject({ ok: true });

    // A raise does not end an exemption, which lies over it.
    await admin.raise({ ...to, times: 10, for: MINUTE });
    const raised = await admin.clear({ ...to, only: "unlimited" });
    expect(raised.overrides).toMatchObject([{ blocked: true }, { times: 10 }]);
    const unbanned = await admin.clear({ ...to, only: "blocked" });
    expect(unbanned.overrides).toMatchObject([{ times: 10 }]);
    expect(unbanned.item.config).toMatchObject({ rate: limits[name].rate * 10 });

    const cleared = await admin.clear(to);
    expect(cleared.overrides).toBeUndefined();
    expect(cleared.item.config).toMatchObject({ rate: limits[name].rate });

    await limiter.charge(name, { key, count: limits[name].rate });
    expect(await ask()).toMatchObject({ ok: false });
    const reset = await admin.reset(to);
    expect(reset.item).toMatchObject({ value: limits[name].rate });
    expect(await ask()).toMatchObject({ ok: true });

    const acts = heard.filter(({ by }) => by !== undefined);
    expect(acts.map(({ action, result }) => [action, result.ok])).toEqual([
      ["ban", false],
      ["exempt", true],
      ["raise", true],
      ["clear", false],
      ["clear", true],
      ["clear", true],
      ["reset", true],
    ]);
    for (const event of acts) expect(event).toMatchObject({ ...to, count: 1, by: "operator" });
  });

  it("bans keys with odd characters, and these alone", async () => {
    const { limiter, admin } = await openAdminOn(open, limits);
    for (const odd of ODD) {
      const key = `${odd}${keys++}`;
      await admin.ban({ name: "bucket", key });
      expect(await limiter.limit("bucket", { key })).toMatchObject({ ok: false });
      expect(await limiter.limit("bucket", { key: `${key}.` })).toMatchObject({ ok: true });
      const { items } = await admin.list({ name: "bucket" });
      expect(items.map((item) => item.key)).toContain(key);
      await admin.clear({ name: "bucket", key, stored: true });
      expect(await limiter.limit("bucket", { key })).toMatchObject({ ok: true });
    }
  });

  it("frees the slots of a key, and its balance of credits is not touched", async () => {
    const { limiter, heard, admin } = await openAdminOn(open, others);
    const key = `slots ${keys++}`;
    await limiter.enter("slots", { key });
    await limiter.enter("slots", { key });
    expect(await limiter.check("slots", { key })).toMatchObject({ ok: false });
    const { item } = await admin.reset({ name: "slots", key });
    expect(item).toMatchObject({ key, value: 2 });
    expect(heard.at(-1)).toMatchObject({ action: "reset", by: "operator", result: { ok: true } });

    await limiter.credit("credits", { key, count: 5 });
    await admin.ban({ name: "credits", key });
    expect(await limiter.limit("credits", { key })).toMatchObject({ ok: false });
    const { item: cleared } = await admin.clear({ name: "credits", key });
    expect(cleared).toMatchObject({ value: 5 });
  });
});

describe("an action on all keys", () => {
  it("bans all of them with all: true, and the override is that of no key", async () => {
    const { limiter, heard, admin } = openAdmin(memoryStore(), limits);
    const { item, overrides: [override] = [] } = await admin.ban({ name: "bucket", all: true });
    expect(asJson(item).key).toBeUndefined();
    expect(asJson(override)).toEqual({
      blocked: true,
      name: "bucket",
      until: override!.until,
      setAt: override!.setAt,
    });
    expect(await limiter.limit("bucket", { key: "anyone" })).toMatchObject({ ok: false });
    expect(heard[0]).toMatchObject({ action: "ban", key: undefined, by: "operator" });
  });

  it("fills the shared bucket alone", async () => {
    const { limiter, admin } = openAdmin(memoryStore(), limits);
    await limiter.limit("bucket", { count: 2 });
    await limiter.limit("bucket", { key: "ada", count: 2 });
    const { item } = await admin.reset({ name: "bucket", all: true });
    expect(item).toMatchObject({ value: 2 });
    expect(await limiter.check("bucket")).toMatchObject({ ok: true });
    expect(await limiter.check("bucket", { key: "ada" })).toMatchObject({ ok: false });
  });
});

describe("an action that makes no sense", () => {
  it("is a clear error where the limiter has no overrides, and limits says so", async () => {
    const { admin } = openAdmin(memoryStore(), limits, { overrides: false });
    expect((await admin.limits()).limits.map(({ overrides }) => overrides)).toEqual(
      names.map(() => false),
    );
    await expect(admin.ban({ name: "bucket", key: "ada" })).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringContaining("overrides: true"),
    });
    await expect(admin.reset({ name: "bucket", key: "ada" })).resolves.toMatchObject({
      item: { key: "ada" },
    });
  });
});

describe("an action", () => {
  it("ends by itself: a ban after an hour, or after the time that it is given", async () => {
    let now = 0;
    const { limiter, admin } = openAdmin(memoryStore(), limits, { clock: () => now });
    const first = await admin.ban({ name: "bucket", key: "ada" });
    const second = await admin.ban({ name: "bucket", key: "bob", for: 1 });
    expect([first.overrides![0]!.until, second.overrides![0]!.until]).toEqual([HOUR, 1]);
    expect([first.item.retryAfter, second.item.retryAfter]).toEqual([HOUR, 1]);
    now = 1;
    expect(await limiter.limit("bucket", { key: "bob" })).toMatchObject({ ok: true });
    expect(await limiter.limit("bucket", { key: "ada" })).toMatchObject({ ok: false });
    now = HOUR;
    expect(await limiter.limit("bucket", { key: "ada" })).toMatchObject({ ok: true });
    const third = await admin.exempt({ name: "bucket", key: "ada" });
    expect("until" in asJson(third.overrides![0]!)).toBe(false);
  });

  it("counts as no use, and neither does looking", async () => {
    const clock = () => 30 * MINUTE;
    const { limiter, heard, admin } = openAdmin(memoryStore(), limits, { clock });
    const to = { name: "counted", key: "ada" } as const;
    await admin.ban(to);
    await admin.exempt(to);
    await admin.clear(to);
    await admin.reset(to);
    await admin.list({ name: "counted" });
    await admin.key({ key: "ada" });
    const { total } = await limiter.usage("counted", { key: "ada", from: 0, to: HOUR });
    expect(total).toEqual({ granted: 0, denied: 0, taken: 0, givenBack: 0 });
    const { items } = await admin.usage({ name: "window", from: 0, to: HOUR });
    expect(items.every(({ granted, denied }) => granted + denied === 0)).toBe(true);
    expect((await admin.denials({})).items).toEqual([]);
    expect(heard.map(({ action }) => action)).toEqual(["ban", "exempt", "clear", "reset"]);
  });

  it.each([
    ["names nobody", () => undefined],
    ["names somebody by what is no text", () => 7 as never],
  ])("is told without by where the application %s", async (_, actor) => {
    const { heard, admin } = openAdmin(memoryStore(), limits, { actor });
    await admin.ban({ name: "bucket", key: "ada" });
    expect(heard).toHaveLength(1);
    expect("by" in heard[0]!).toBe(false);
  });

  it("is not done where the application fails to name who does it", async () => {
    const actor = (): never => {
      throw new Error("no session of ada");
    };
    const { limiter, admin } = openAdmin(memoryStore(), limits, { actor });
    await expect(admin.ban({ name: "bucket", key: "ada" })).rejects.toMatchObject({
      code: "INTERNAL_SERVER_ERROR",
      message: expect.not.stringContaining("ada"),
    });
    expect(await limiter.overrides.list()).toEqual([]);
  });

  it("is told also where the store fails right after it", async () => {
    const store = memoryStore();
    const { heard, admin } = openAdmin(store, limits);
    store.apply = () => Promise.reject(new RateLimitStoreError("gone"));
    await expect(admin.ban({ name: "bucket", key: "ada" })).resolves.toBeDefined();
    await expect(admin.clear({ name: "bucket", key: "ada" })).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.not.stringContaining("gone"),
    });
    expect(heard.map(({ action, result }) => [action, result.ok, "storeFailed" in result])).toEqual(
      [
        ["ban", false, false],
        ["clear", true, true],
      ],
    );
  });
});
