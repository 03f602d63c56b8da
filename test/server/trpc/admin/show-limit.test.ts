/** The plans of limits and of keys, as operators see them. */
import { describe, expect, it } from "vitest";
import { DAY, HOUR, type LimitConfigs, memoryStore } from "../../../../server/index.js";
import { asJson, openAdmin, openAdminOn } from "../../../support/admin-caller.js";
import { plannedLimits, plans } from "../../../support/planned-limits.js";
import { stores } from "../../../support/stores.js";

const limits = {
  ...plannedLimits,
  send: { ...plannedLimits.send, whenStoreFails: "allow" },
} as const satisfies LimitConfigs;
/** Keys have the plan that they begin with. */
const plan = ({ key }: { key: string | undefined }) => (key?.startsWith("pro") ? "pro" : "free");

describe("the limits", () => {
  it("have their plans and what each of them has, and no policy that attackers could use", async () => {
    const { admin } = openAdmin(memoryStore(), limits, { plans });
    const { limits: shown } = asJson(await admin.limits());
    const bucket = { kind: "token bucket", period: HOUR };
    const day = { kind: "fixed window", period: DAY, start: 0 };
    expect(shown.map((limit) => limit.plans)).toEqual([
      [
        { plan: "free", terms: { ...day, rate: 1 } },
        { plan: "pro", terms: { ...day, rate: 50 } },
      ],
      [
        { plan: "free", terms: { ...bucket, rate: 2 } },
        { plan: "pro", terms: { ...bucket, rate: 20, capacity: 5 } },
      ],
      [
        { plan: "free", terms: "none" },
        { plan: "pro", terms: "unlimited" },
      ],
      [
        { plan: "free", terms: { kind: "concurrency", slots: 1 } },
        { plan: "pro", terms: { kind: "concurrency", slots: 3 } },
      ],
      undefined,
    ]);
    // Without a key, the largest one stands for all.
    expect(shown.map(({ config }) => config.slots ?? config.rate)).toEqual([50, 20, 1, 3, 100]);
  });
});

describe.each(stores)("a key on %s", (_, open) => {
  it("is shown by the plan that it has, on each of its limits", async () => {
    const { limiter, admin } = await openAdminOn(open, limits, { plans, plan });
    for (const key of ["free", "pro"]) {
      await limiter.limit("pictures", { key, plan: key as "free" });
      await limiter.limit("video", { key, plan: key as "free" });
    }
    const shownOf = async (key: string) => {
      const { limits: all } = asJson(await admin.key({ key }));
      return all.map(({ name, item }) => [
        name,
        item.plan,
        item.value,
        item.retryAfter !== undefined,
      ]);
    };
    expect(await shownOf("free")).toEqual([
      ["pictures", "free", 0, true],
      ["send", "free", 2, false],
      ["video", "free", 0, true],
      ["jobs", "free", 1, false],
      ["signUp", undefined, 100, false],
    ]);
    expect(await shownOf("pro")).toEqual([
      ["pictures", "pro", 49, false],
      ["send", "pro", 5, false],
      ["video", "pro", 1, false],
      ["jobs", "pro", 3, false],
      ["signUp", undefined, 100, false],
    ]);
  });

  it("is limited in a list by the plan that it has", async () => {
    const { limiter, admin } = await openAdminOn(open, limits, { plans, plan });
    for (const key of ["free", "pro"]) {
      await limiter.limit("pictures", { key, plan: key as "free" });
      await limiter.enter("jobs", { key, plan: key as "free" });
    }
    for (const name of ["pictures", "jobs"] as const) {
      const { items: denied } = await admin.list({ name });
      expect(denied).toMatchObject([{ key: "free", plan: "free", value: 0 }]);
      const { items: all } = await admin.list({ name, denied: false });
      expect(all.map(({ key, plan: own }) => [key, own])).toEqual([
        ["free", "free"],
        ["pro", "pro"],
      ]);
      expect(all.map(({ retryAfter }) => retryAfter !== undefined)).toEqual([true, false]);
    }
  });

  it("whose plan has become smaller shows all holders of its slots", async () => {
    const { limiter, admin } = await openAdminOn(open, limits, { plans, plan: () => "free" });
    for (let i = 0; i < 3; i++) {
      expect((await limiter.enter("jobs", { key: "ada", plan: "pro" })).ok).toBe(true);
    }
    const { limits: all } = await admin.key({ key: "ada" });
    const { item, slots, rows } = all.find(({ name }) => name === "jobs")!;
    expect(item).toMatchObject({ plan: "free", value: 0 });
    expect([slots!.slots, slots!.holders.length, rows.length]).toEqual([1, 3, 3]);
  });
});

describe("the plan of a key", () => {
  it("that nothing says is not shown, and the numbers are those of the largest", async () => {
    const { limiter, admin } = openAdmin(memoryStore(), limits, { plans });
    await limiter.limit("pictures", { key: "ada", plan: "free" });
    const { limits: all } = asJson(await admin.key({ key: "ada" }));
    expect(all.map(({ item }) => item.plan)).toEqual(limits && all.map(() => undefined));
    expect(all[0]!.item).toMatchObject({ value: 49, config: { rate: 50 } });
  });

  it("is that of an override, which comes before what the limiter says", async () => {
    const { admin } = openAdmin(memoryStore(), limits, { plans, plan: () => "free" });
    await admin.plan({ name: "video", key: "ada", plan: "pro" });
    const { limits: all } = await admin.key({ key: "ada" });
    const video = all.find(({ name }) => name === "video")!;
    expect(video).toMatchObject({ item: { plan: "pro" }, overrides: [{ plan: "pro" }] });
    expect(video.item.retryAfter).toBeUndefined();
  });

  it("that denies every call never lets one pass, and a ban on it ends when the ban does", async () => {
    let now = DAY;
    const { admin } = openAdmin(memoryStore(), limits, {
      plans,
      plan: () => "free",
      clock: () => now,
    });
    const waitOf = async () => {
      const { limits: all } = await admin.key({ key: "ada" });
      return all.find(({ name }) => name === "video")!.item.retryAfter;
    };
    expect(await waitOf()).toBe(8e15);
    await admin.ban({ name: "video", key: "ada", for: HOUR });
    expect(await waitOf()).toBe(HOUR);
    now += HOUR;
    expect(await waitOf()).toBe(8e15);
  });

  it("is known of a key that a person types, and not of its hash", async () => {
    const hashKey = (key: string) => `#${key.length}`;
    const { limiter, admin } = openAdmin(memoryStore(), limits, { plans, plan, hashKey });
    await limiter.limit("pictures", { key: "pro ada", plan: "pro" });
    const typed = await admin.key({ key: "pro ada" });
    expect(typed.limits[0]!.item).toMatchObject({ key: "#7", plan: "pro" });
    const stored = await admin.key({ key: "#7", stored: true });
    expect(stored.limits[0]!.item.plan).toBeUndefined();
    const banned = await admin.ban({ name: "pictures", key: "pro ada" });
    expect(banned.item.plan).toBe("pro");
  });

  it("is not known where the limiter's function fails, and all else is shown", async () => {
    const { admin } = openAdmin(memoryStore(), limits, {
      plans,
      plan: () => Promise.reject(new Error("no table of users")),
    });
    const { limits: all } = await admin.key({ key: "ada" });
    expect(all.map(({ item }) => [item.plan, item.value])).toEqual(
      [50, 5, 1, 3, 100].map((value) => [undefined, value]),
    );
  });
});
