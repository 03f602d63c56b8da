/** What `undo` brings back, and what the log knows where a store fails. */
import { describe, expect, it } from "vitest";
import { HOUR, type LimitConfigs, RateLimitStoreError } from "../../../../server/index.js";
import { openAdmin, openAdminAt, openAdminOn } from "../../../support/admin-caller.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  bucket: { kind: "token bucket", rate: 10, period: HOUR },
} as const satisfies LimitConfigs;
const START = Date.UTC(2030, 0, 1);
const to = { name: "bucket", key: "ada" } as const;

const create = (options?: Parameters<typeof openAdminAt>[2]) => openAdminAt(START, limits, options);

describe.each(storesAndRedis)("undo on %s", (_, open) => {
  it("brings several overrides back in the order in which they lay over each other", async () => {
    const { limiter, admin } = await openAdminOn(open, limits);
    const config = { kind: "token bucket", rate: 50, period: HOUR } as const;
    await limiter.overrides.set("bucket", { key: "ada", times: 2 });
    await limiter.overrides.set("bucket", { key: "ada", config });
    await admin.ban(to);
    await admin.exempt(to);
    expect((await limiter.check("bucket", { key: "ada" })).ok).toBe(true);
    const { change } = await admin.clear(to);
    expect(await admin.undo({ id: change! })).toMatchObject({
      overrides: [{ unlimited: true }, { blocked: true }, { config }, { times: 2 }],
    });
    expect((await limiter.check("bucket", { key: "ada" })).ok).toBe(true);
    await limiter.overrides.clear("bucket", { key: "ada", only: "unlimited" });
    await limiter.overrides.clear("bucket", { key: "ada", only: "blocked" });
    expect((await limiter.getValue("bucket", { key: "ada" })).value).toBe(50);
  });

  it("puts what was replaced beneath what lay over it", async () => {
    const { limiter, admin } = await openAdminOn(open, limits);
    await admin.ban({ ...to, for: HOUR });
    await admin.exempt(to);
    const { change } = await admin.ban({ ...to, for: 2 * HOUR });
    expect((await limiter.check("bucket", { key: "ada" })).ok).toBe(false);
    const { overrides } = await admin.undo({ id: change! });
    expect(overrides).toMatchObject([{ unlimited: true }, { blocked: true }]);
    expect((await limiter.check("bucket", { key: "ada" })).ok).toBe(true);
  });
});

describe("two operators who undo one change at the same time", () => {
  it("undo it once at most", async () => {
    const { limiter, admin, store, clock } = create();
    const other = openAdmin(store, limits, { clock });
    await limiter.charge("bucket", { key: "ada", count: 6 });
    const { change } = await admin.reset(to);
    const id = change!;
    await Promise.allSettled([admin.undo({ id }), other.admin.undo({ id })]);
    expect((await limiter.getValue("bucket", { key: "ada" })).value).toBeGreaterThanOrEqual(4);
    const undone = (await admin.changes()).items.filter(({ undoes }) => undoes === id);
    expect(undone.length).toBeLessThan(2);
    if (undone.length === 0) await admin.undo({ id });
    expect((await limiter.getValue("bucket", { key: "ada" })).value).toBe(4);
  });
});

describe("an action that has been done", () => {
  it("is told to listeners, and answered, where the store fails before the log is complete", async () => {
    const { admin, store, heard } = create();
    const table = store.overrides!;
    const { write } = table;
    let hasSet = false;
    table.write = async (row, ...rest) => {
      if (hasSet && row.name.includes("change:")) throw new RateLimitStoreError("gone");
      hasSet ||= row.name.includes("blocked:");
      return write.call(table, row, ...rest);
    };
    expect(await admin.ban(to)).toMatchObject({ overrides: [{ blocked: true }] });
    expect(heard).toMatchObject([{ action: "ban", key: "ada" }]);
    const { items } = await admin.changes();
    expect(items).toMatchObject([{ action: "ban", canUndo: false }]);
  });

  it("is in the log where only its answer was lost", async () => {
    const { admin, store, limiter } = create();
    const table = store.overrides!;
    const { remove, write } = table;
    table.write = async (row, ...rest) => {
      await write.call(table, row, ...rest);
      if (row.name.includes("blocked:")) throw new RateLimitStoreError("the answer was lost");
    };
    await expect(admin.ban(to)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    table.write = write;
    expect((await admin.changes()).items).toMatchObject([
      { action: "ban", after: [{ blocked: true }], canUndo: true },
    ]);
    await admin.raise({ ...to, times: 2 });
    table.remove = async (name, ...rest) => {
      if (name.includes("blocked:")) throw new RateLimitStoreError("gone");
      return remove.call(table, name, ...rest);
    };
    await expect(admin.clear(to)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    table.remove = remove;
    // The raise has ended, and the ban has not.
    expect(await limiter.overrides.list()).toMatchObject([{ blocked: true }]);
    const { items } = await admin.changes({ count: 1 });
    expect(items).toMatchObject([{ action: "clear", before: [{ times: 2 }] }]);
    await admin.undo({ id: items[0]!.id });
    expect((await limiter.overrides.list()).length).toBe(2);
  });
});
