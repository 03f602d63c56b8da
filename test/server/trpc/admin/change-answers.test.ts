/** What operators have changed: the log, the list of overrides, and how a change is undone. */
import { describe, expect, it, vi } from "vitest";
import {
  DAY,
  HOUR,
  type LimitConfigs,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
} from "../../../../server/index.js";
import { changeDigest } from "../../../../server/changes/change-digest.js";
import { OVERRIDES_DIGEST } from "../../../../server/changes/overrides-digest.js";
import { MOST_CHANGES } from "../../../../server/limiter/limits/overrides/change-log.js";
import { MAX_RULE } from "../../../../server/store/override-table.js";
import { asJson, openAdmin, openAdminAt, openAdminOn } from "../../../support/admin-caller.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  bucket: { kind: "token bucket", rate: 10, period: HOUR },
  shards: { kind: "token bucket", rate: 40, period: HOUR, shards: 4 },
  month: { kind: "fixed window", rate: 10, period: "month", timeZone: "Europe/Paris" },
  slots: { kind: "concurrency", slots: 2 },
  credits: { kind: "credits" },
} as const satisfies LimitConfigs;
const START = Date.UTC(2030, 0, 1);
const to = { name: "bucket", key: "ada" } as const;

const create = (options?: Parameters<typeof openAdminAt>[2]) => openAdminAt(START, limits, options);

describe.each(storesAndRedis)("the log of changes on %s", (_, open) => {
  it("says who, what, why, when and until, of all processes, the newest first", async () => {
    await using opened = await open({ isNew: true });
    const [one, two] = ["ann", "ben"].map((by) =>
      openAdmin(opened.store, limits, { actor: () => by }),
    ) as [ReturnType<typeof create>, ReturnType<typeof create>];
    const until = Date.now() + DAY;
    await one.admin.raise({ ...to, times: 2, until, why: " ticket 7: übergangsweise 🧀 " });
    await two.admin.ban({ ...to, for: HOUR });
    await one.admin.raise({ ...to, times: 3 });
    await two.admin.reset({ name: "slots", all: true });
    const { kept, items } = asJson(await two.admin.changes());
    expect(kept).toBe(true);
    expect(items.map(({ action, name, key, by }) => [action, name, key, by])).toEqual([
      ["reset", "slots", undefined, "ben"],
      ["raise", "bucket", "ada", "ann"],
      ["ban", "bucket", "ada", "ben"],
      ["raise", "bucket", "ada", "ann"],
    ]);
    expect(items[1]).toMatchObject({ before: [{ times: 2, until }], after: [{ times: 3 }] });
    expect(items[3]).toMatchObject({
      before: [],
      after: [{ times: 2, until }],
      why: "ticket 7: übergangsweise 🧀",
    });
    expect(items.map(({ canUndo }) => canUndo)).toEqual([false, true, true, true]);
    const ofKey = await one.admin.changes({ key: "ada", count: 1 });
    expect(ofKey.items).toMatchObject([{ action: "raise", after: [{ times: 3 }] }]);
    const earlier = await one.admin.changes({ before: items[1]!.at });
    expect(earlier.items.map(({ action }) => action)).toEqual(["ban", "raise"]);
    // The log is no override, and goes with its key.
    expect((await one.limiter.overrides.list()).length).toBe(2);
    await one.limiter.forget("ada");
    expect((await two.admin.changes()).items.map(({ name }) => name)).toEqual(["slots"]);
  });

  it("has what undoes each action", async () => {
    const { limiter, admin, heard } = await openAdminOn(open, limits);
    const undoLast = async (why?: string) => {
      const { items } = await admin.changes();
      return admin.undo({ id: items[0]!.id, ...(why && { why }) });
    };
    await admin.raise({ ...to, times: 2 });
    await admin.raise({ ...to, times: 5, for: HOUR });
    expect(await undoLast("a mistake")).toMatchObject({
      name: "bucket",
      overrides: [{ times: 2 }],
    });
    expect(heard.at(-1)).toMatchObject({ action: "undo", key: "ada", why: "a mistake" });
    await admin.ban(to);
    expect(await undoLast()).toMatchObject({ overrides: [{ times: 2 }] });
    await admin.give({ ...to, add: 7 });
    await admin.clear(to);
    expect(await limiter.overrides.list()).toEqual([]);
    expect(await undoLast()).toMatchObject({ overrides: [{ add: 7 }, { times: 2 }] });
    const { items } = await admin.changes();
    expect(items[0]).toMatchObject({ action: "undo", undoes: items[1]!.id, canUndo: false });
    expect(items[1]).toMatchObject({ undoneBy: items[0]!.id, canUndo: false });
    await expect(admin.undo({ id: items[1]!.id })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("takes a reset back, beside what was used since", async () => {
    const { limiter, admin } = await openAdminOn(open, limits);
    for (const name of ["bucket", "shards", "month"] as const) {
      const used = { key: `reset ${name}` };
      const own = limits[name].rate;
      const left = async () => Math.floor((await limiter.getValue(name, used)).value + 0.01);
      const undo = async () => admin.undo({ id: (await admin.changes()).items[0]!.id });
      await limiter.charge(name, { ...used, count: own - 2 });
      await admin.reset({ name, ...used });
      expect(await left()).toBe(own);
      await undo();
      expect(await left()).toBe(2);
      await admin.reset({ name, ...used });
      await limiter.charge(name, { ...used, count: 1 });
      await undo();
      expect(await left()).toBe(1);
    }
  });
});

describe("undo", () => {
  it("is refused where somebody has changed it again, and loses nothing", async () => {
    const { admin, limiter } = create();
    await admin.raise({ ...to, times: 2 });
    const [first] = (await admin.changes()).items;
    await admin.raise({ ...to, times: 3 });
    await expect(admin.undo({ id: first!.id })).rejects.toMatchObject({
      code: "CONFLICT",
      message: "It was changed again since, or has ended",
    });
    expect(await limiter.overrides.list()).toMatchObject([{ times: 3 }]);
    // A refused undo is no change.
    expect((await admin.changes()).items.map(({ action }) => action)).toEqual(["raise", "raise"]);
    await expect(admin.undo({ id: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("does not bring back what would have ended meanwhile", async () => {
    const { admin, clock, limiter } = create();
    await admin.raise({ ...to, times: 2, for: HOUR });
    await admin.raise({ ...to, times: 3, for: DAY });
    clock.advance(2 * HOUR);
    const { items } = await admin.changes();
    await admin.undo({ id: items[0]!.id });
    expect(await limiter.overrides.list()).toEqual([]);
  });

  it("needs the right to what is undone, for this key", async () => {
    const asked: unknown[] = [];
    const { admin } = create({
      authorize({ action, name, key, all }) {
        asked.push([action, name, key, all]);
        return action !== "ban" || asked.length < 2;
      },
    });
    await admin.ban(to);
    const { items } = await admin.changes();
    expect(items).toMatchObject([{ action: "ban", canUndo: false }]);
    await expect(admin.undo({ id: items[0]!.id })).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: 'This caller may not use "ban"',
    });
    expect(asked.slice(-2)).toEqual([
      ["view", undefined, undefined, false],
      ["ban", "bucket", "ada", false],
    ]);
  });
});

it("an undo cannot be undone, and nobody is asked whether it may", async () => {
  const asked: unknown[] = [];
  const { admin } = create({ authorize: ({ action }) => asked.push(action) > 0 });
  const { change } = await admin.ban(to);
  await admin.undo({ id: change! });
  const { id } = (await admin.changes()).items[0]!;
  await expect(admin.undo({ id })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect(asked).not.toContain("undo");
});

describe("a reset", () => {
  it("cannot be undone before it is done: its process may be killed in between", async () => {
    const { admin, store, limiter } = create();
    await limiter.charge("bucket", { key: "ada", count: 8 });
    const seen: unknown[] = [];
    const apply = store.apply.bind(store);
    const spy = vi.spyOn(store, "apply").mockImplementation(async (...args) => {
      seen.push((await admin.changes()).items.map(({ canUndo }) => canUndo));
      return apply(...args);
    });
    await admin.reset(to);
    spy.mockRestore();
    // The rows are read before the entry is there, and deleted after that.
    expect(seen.slice(0, 2)).toEqual([[], [false]]);
    expect((await admin.changes()).items).toMatchObject([{ canUndo: true }]);
  });
});

describe("an action", () => {
  it("that fails leaves no entry, and one whose entry cannot be written is not done", async () => {
    const { admin, store } = create();
    const table = store.overrides!;
    const { write } = table;
    const failing = (part: string) => {
      table.write = (row, ...rest) =>
        row.name.includes(part)
          ? Promise.reject(new RateLimitStoreError("gone"))
          : write.call(table, row, ...rest);
    };
    failing("blocked:");
    await expect(admin.ban(to)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect((await admin.changes()).items).toEqual([]);
    failing("change:");
    await expect(admin.ban(to)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    table.write = write;
    expect((await admin.overrides()).total).toBe(0);
  });

  it("gives more, and ends at an instant or after a time", async () => {
    const { admin } = create();
    const until = START + DAY;
    expect(await admin.give({ ...to, add: 100, until })).toMatchObject({
      item: { value: 110, config: { capacity: 110, rate: 10 } },
      overrides: [{ add: 100, until }],
    });
  });

  it("with the longest texts is written down, with what has room", async () => {
    const name = "limit ".padEnd(160, "ü");
    const store = memoryStore();
    const { admin } = openAdmin(store, { [name]: limits.bucket }, { actor: () => "ß".repeat(500) });
    const key = "🧀".repeat(95);
    await admin.ban({ name, key, why: "ä".repeat(200) });
    const { items } = await admin.changes({ key });
    expect(items).toMatchObject([{ action: "ban", name, key }]);
    const rows = await store.overrides!.read();
    expect(Math.max(...rows.map(({ rule }) => rule.length))).toBeLessThanOrEqual(MAX_RULE);
  });

  it("is done where only the oldest changes cannot be deleted", async () => {
    const { admin, store } = create();
    await admin.ban({ name: "bucket", key: "old" });
    const table = store.overrides!;
    for (let i = 0; i < MOST_CHANGES; i++) {
      const rule = JSON.stringify({ action: "ban", name: "bucket", before: [], after: [] });
      const row = { key: "k", rule, until: START + DAY, setAt: START };
      await table.write({ ...row, name: `trpc-rate-limit:change:${i}` });
    }
    const { remove } = table;
    table.remove = () => Promise.reject(new RateLimitStoreError("gone"));
    expect(await admin.ban(to)).toMatchObject({ overrides: [{ blocked: true }] });
    table.remove = remove;
    expect((await admin.changes()).items[0]).toMatchObject({ key: "ada", canUndo: true });
  });

  it("of a limiter without overrides is not kept, and the answer says so", async () => {
    const { admin } = create({ overrides: false });
    await admin.reset(to);
    expect(await admin.changes()).toMatchObject({ kept: false, items: [] });
    expect(await admin.overrides()).toMatchObject({ items: [], total: 0 });
  });
});

it("the log is no news for pages and other processes: only the overrides are", async () => {
  const told: string[] = [];
  const channel = {
    publish: (digest: string) => void told.push(digest),
    subscribe: () => () => {},
  };
  const { admin } = create({ channel });
  await admin.ban(to);
  expect(told).toEqual([OVERRIDES_DIGEST]);
  await admin.reset(to);
  expect(told.slice(1)).toEqual([changeDigest("bucket", "ada")]);
});

it("pages reach every change, also those of one instant", async () => {
  const { admin, store, clock } = create();
  const other = openAdmin(store, limits, { clock });
  for (const key of ["a", "b", "c"]) {
    await other.admin.ban({ name: "month", key });
    await admin.ban({ name: "bucket", key });
    // Written once, and not again after it was done.
    await other.admin.reset({ name: "shards", key });
  }
  const found: unknown[] = [];
  for (let before: number | undefined; found.length < 10;) {
    const [item] = (await admin.changes({ count: 1, ...(before && { before }) })).items;
    if (item === undefined) break;
    found.push([item.name, item.key]);
    before = item.at;
  }
  const names = ["shards", "bucket", "month"];
  expect(found).toEqual(["c", "b", "a"].flatMap((key) => names.map((name) => [name, key])));
});

describe("the list of overrides", () => {
  it("has those that end soon first, then those without an end", async () => {
    const { admin, clock } = create();
    await admin.exempt({ name: "bucket", key: "old" });
    clock.advance(1);
    await admin.ban({ name: "month", key: "new", for: DAY });
    await admin.raise({ name: "bucket", all: true, times: 2, for: MINUTE });
    await admin.exempt({ name: "shards", key: "newer" });
    const { items, total } = await admin.overrides();
    expect(items.map(({ name, key }) => [name, key])).toEqual([
      ["bucket", undefined],
      ["month", "new"],
      ["shards", "newer"],
      ["bucket", "old"],
    ]);
    expect(total).toBe(4);
    expect(await admin.overrides({ name: "month" })).toMatchObject({ total: 1 });
    clock.advance(MINUTE);
    expect(await admin.overrides({ count: 1 })).toMatchObject({
      total: 3,
      items: [{ key: "new" }],
    });
  });
});

it("the log keeps the newest changes, and for 90 days", async () => {
  const { admin, store, clock, limiter } = create();
  for (let i = 0; i < MOST_CHANGES; i++) {
    const rule = JSON.stringify({ action: "ban", name: "bucket", before: [], after: [] });
    const name = `trpc-rate-limit:change:${i}`;
    await store.overrides!.write({ name, key: "k", rule, until: START + DAY, setAt: START + i });
  }
  clock.advance(HOUR);
  await admin.ban(to);
  const own = async () =>
    (await store.overrides!.read()).filter(({ name }) => name.includes("change:"));
  expect((await own()).length).toBe(MOST_CHANGES);
  expect((await own()).some(({ name }) => name.endsWith("change:0"))).toBe(false);
  clock.advance(91 * DAY);
  await limiter.prune();
  expect((await own()).length).toBe(0);
});
