/** Operators who give a key a plan, on one limit and on all limits with plans. */
import { describe, expect, it } from "vitest";
import { DAY, memoryStore, RateLimitStoreError } from "../../../../server/index.js";
import { openAdmin, openAdminOn } from "../../../support/admin-caller.js";
import { plannedLimits as limits, plans } from "../../../support/planned-limits.js";
import { storesAndRedis } from "../../../support/stores.js";

const asFree = { plans, plan: () => "free" };

/** Not those of other tests in the same database. */
let keys = 0;
const newKey = () => `plan ${keys++}`;

describe.each(storesAndRedis)("a plan that an operator gives on %s", (_, open) => {
  it("counts at once for calls of another plan, until it is cleared", async () => {
    const { limiter, heard, admin } = await openAdminOn(open, limits, { plans });
    const key = newKey();
    const ask = () => limiter.limit("pictures", { key, plan: "free" });
    expect([(await ask()).ok, (await ask()).ok]).toEqual([true, false]);

    const { changes } = await admin.plan({ name: "pictures", key, plan: "pro", for: 14 * DAY });
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({
      name: "pictures",
      item: { key, plan: "pro", value: 49, config: { rate: 50 } },
      overrides: [{ plan: "pro" }],
    });
    const { until, setAt } = changes[0]!.overrides![0]!;
    expect(until! - setAt).toBeGreaterThan(13 * DAY);
    expect(await ask()).toMatchObject({ ok: true, value: 48 });
    expect(heard.at(-2)).toMatchObject({ action: "plan", name: "pictures", key, plan: "pro" });
    expect(heard.at(-2)).toMatchObject({ by: "operator", count: 1, result: { ok: true } });

    const { overrides } = await admin.clear({ name: "pictures", key });
    expect(overrides).toBeUndefined();
    expect((await ask()).ok).toBe(false);
  });

  it("counts on all limits with plans where no limit is named, each of which is told", async () => {
    const { limiter, heard, admin } = await openAdminOn(open, limits, asFree);
    const key = newKey();
    const { changes } = await admin.plan({ key, plan: "pro" });
    expect(changes.map(({ name, item }) => [name, item.plan])).toEqual([
      ["pictures", "pro"],
      ["send", "pro"],
      ["video", "pro"],
    ]);
    expect(heard.map(({ action, name, plan }) => [action, name, plan])).toEqual(
      changes.map(({ name }) => ["plan", name, "pro"]),
    );
    // The slots of a key cannot be overridden.
    expect((await limiter.overrides.list()).map(({ name }) => name).toSorted()).toEqual([
      "pictures",
      "send",
      "video",
    ]);
    expect((await limiter.limit("video", { key, plan: "free", count: 1000 })).ok).toBe(true);
  });
});

describe("a plan for all limits", () => {
  it("is given on those alone that the caller may change, which is asked for each", async () => {
    const asked: unknown[] = [];
    const { limiter, admin } = openAdmin(memoryStore(), limits, {
      plans,
      authorize({ action, name, key, all }) {
        asked.push([action, name, key, all]);
        return name !== "send";
      },
    });
    const { changes } = await admin.plan({ key: "ada", plan: "pro" });
    expect(changes.map(({ name }) => name)).toEqual(["pictures", "video"]);
    expect(asked).toEqual([
      ["plan", undefined, "ada", false],
      ...["pictures", "send", "video"].map((name) => ["plan", name, "ada", false]),
    ]);
    expect(await limiter.overrides.list("send")).toEqual([]);
  });

  it("is refused where the caller may change none of them", async () => {
    const authorize = ({ name }: { name: string | undefined }) => name === undefined;
    const { admin } = openAdmin(memoryStore(), limits, { plans, authorize });
    await expect(admin.plan({ key: "ada", plan: "pro" })).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: 'This caller may not use "plan"',
    });
  });

  it("that ends midway is told for what was done", async () => {
    const store = memoryStore();
    const { limiter, heard, admin } = openAdmin(store, limits, asFree);
    const { write } = store.overrides!;
    store.overrides!.write = (row, ...rest) =>
      !row.name.endsWith(":send") && !row.name.endsWith(":video")
        ? write.call(store.overrides, row, ...rest)
        : Promise.reject(new RateLimitStoreError("gone"));
    await expect(admin.plan({ key: "ada", plan: "pro" })).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
    });
    expect(heard.map(({ name }) => name)).toEqual(["pictures"]);
    expect((await limiter.overrides.list()).map(({ name }) => name)).toEqual(["pictures"]);
  });

  it("of all keys counts for a key that has no override of its own", async () => {
    const { limiter, admin } = openAdmin(memoryStore(), limits, asFree);
    await admin.plan({ name: "pictures", all: true, plan: "pro" });
    expect(await limiter.limit("pictures", { key: "bob", plan: "free" })).toMatchObject({
      value: 49,
    });
    const { items } = await admin.list({ name: "pictures", denied: false });
    expect(items).toMatchObject([{ key: "bob", plan: "pro" }]);
  });
});

describe("a plan that makes no sense", () => {
  it("is refused where the limiter has no overrides", async () => {
    const { admin } = openAdmin(memoryStore(), limits, { plans, overrides: false });
    await expect(admin.plan({ key: "ada", plan: "pro" })).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringContaining("overrides: true"),
    });
  });
});
