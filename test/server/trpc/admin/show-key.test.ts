/** One key under all limits, as operators see it. */
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, memoryStore, MINUTE, SECOND } from "../../../../server/index.js";
import { openAdmin, openAdminOn } from "../../../support/admin-caller.js";
import { stores } from "../../../support/stores.js";

const limits = {
  bucket: { kind: "token bucket", rate: 5, period: HOUR },
  held: { kind: "token bucket", rate: 10, period: HOUR, holds: true, usage: true },
  shards: { kind: "token bucket", rate: 8, period: HOUR, shards: 4 },
  month: { kind: "fixed window", rate: 3, period: "month", timeZone: "Asia/Tokyo" },
  slots: { kind: "concurrency", slots: 2 },
  credits: { kind: "credits" },
} as const;
const names = Object.keys(limits);

/** Half an hour after noon. */
const NOW = 365 * DAY + 12 * HOUR + 30 * MINUTE;

describe.each(stores)("a key on %s", (_, open) => {
  it("is shown under all limits: buckets, rows, holds, slots, overrides and usage", async () => {
    const { limiter, admin } = await openAdminOn(open, limits, { clock: () => NOW });
    const of = { key: "ada" };
    await limiter.limit("bucket", { ...of, count: 5 });
    await limiter.limit("bucket", of);
    await limiter.limit("held", {
      ...of,
      count: 4,
      once: "job 7",
      hold: { for: MINUTE, then: "release" },
    });
    await limiter.limit("shards", of);
    await limiter.credit("credits", { ...of, count: 9 });
    await limiter.overrides.set("month", { ...of, times: 2 });
    await limiter.overrides.set("bucket", { key: "bob", blocked: true });

    const { now, key, limits: shown } = await admin.key(of);
    expect([now, key, shown.map(({ name }) => name)]).toEqual([NOW, "ada", names]);
    const [bucket, held, shards, month, slots, credits] = shown;
    expect(bucket).toEqual({
      name: "bucket",
      item: {
        key: "ada",
        value: 0,
        ts: NOW,
        config: limits.bucket,
        now: NOW,
        retryAfter: 12 * MINUTE,
        since: NOW,
      },
      rows: [{ shard: 0, used: 5, ts: NOW }],
    });
    expect(held).toMatchObject({
      item: { value: 6, held: 4 },
      holds: [{ once: "job 7", count: 4, then: "release", until: NOW + MINUTE }],
    });
    const counted = held!.usage!;
    expect([counted[0]!.start, counted.at(-1)!.end]).toEqual([
      NOW - 30 * MINUTE - DAY,
      NOW + 30 * MINUTE,
    ]);
    expect(counted.at(-1)).toMatchObject({ granted: 1, taken: 4, denied: 0 });
    expect(shards).toMatchObject({ item: { value: 7 }, rows: [{ used: 1, ts: NOW }] });
    expect(month).toMatchObject({
      item: { value: 6, config: { rate: 6 }, override: { times: 2 } },
      overrides: [{ times: 2, key: "ada" }],
    });
    expect(slots).toMatchObject({
      item: { value: 2 },
      slots: { slots: 2, holders: [], waiting: 0 },
    });
    expect(credits).toMatchObject({ item: { value: 9 }, rows: [{ shard: 0, used: 9 }] });
    for (const { overrides } of [bucket!, held!, credits!]) expect(overrides).toBeUndefined();
  });

  it("that has no rows is shown as a new one would be", async () => {
    const { admin } = await openAdminOn(open, limits);
    const { limits: shown } = await admin.key({ key: "nobody" });
    expect(shown.map(({ name }) => name)).toEqual(names);
    for (const { rows } of shown) expect(rows).toEqual([]);
    expect(shown.map(({ item }) => item.value)).toEqual([5, 10, 8, 3, 2, 0]);
  });

  it("is the shared bucket where it is left out", async () => {
    const { limiter, admin } = await openAdminOn(open, limits, { clock: () => NOW });
    await limiter.limit("bucket", { count: 2 });
    await limiter.overrides.set("bucket", { times: 3 });
    for (const input of [undefined, {}]) {
      const { key, limits: shown } = await admin.key(input);
      expect(key).toBeUndefined();
      expect(shown[0]).toMatchObject({ item: { value: 13 }, overrides: [{ times: 3 }] });
      expect(shown[0]!.overrides![0]!.key).toBeUndefined();
    }
    // An override of all keys is not one of this key, and counts for it all the same.
    const { limits: other } = await admin.key({ key: "ada" });
    expect(other[0]!.item.override).toMatchObject({ times: 3 });
    expect(other[0]!.overrides).toBeUndefined();
  });

  it("shows who holds its slots, and how many wait in line", async () => {
    const { limiter, admin } = await openAdminOn(open, limits);
    const of = { key: "ada" };
    const held = [await limiter.enter("slots", of), await limiter.enter("slots", of)];
    const stop = new AbortController();
    const waiting = limiter.enter("slots", { ...of, maxWait: MINUTE, signal: stop.signal });
    const ended = waiting.then(
      () => "entered",
      () => "aborted",
    );
    await expect
      .poll(async () => (await admin.key(of)).limits[4], { timeout: 5000 })
      .toMatchObject({ item: { value: 0 }, slots: { slots: 2, waiting: 1 } });
    const { slots, item, rows } = (await admin.key(of)).limits[4]!;
    expect(slots!.holders).toHaveLength(2);
    expect(rows.map(({ shard }) => shard)).toEqual([0, 1]);
    for (const end of slots!.holders) {
      expect(end).toBeGreaterThan(item.now);
      expect(end).toBeLessThanOrEqual(item.now + 30 * SECOND);
    }
    stop.abort();
    expect(await ended).toBe("aborted");
    for (const each of held) if (each.ok) await each.release();
  });
});

it("shows the rows themselves while an override bans or exempts the key", async () => {
  const { limiter, admin } = openAdmin(memoryStore(), limits, { clock: () => NOW });
  await limiter.limit("bucket", { key: "ada", count: 2 });
  for (const rule of [{ blocked: true }, { unlimited: true }] as const) {
    await limiter.overrides.set("bucket", { key: "ada", ...rule });
    const { limits: shown } = await admin.key({ key: "ada" });
    expect(shown[0]).toMatchObject({
      item: { override: rule },
      rows: [{ shard: 0, used: 2, ts: NOW }],
    });
  }
});

it("leaves out a limit whose usage has no room for a key so long", async () => {
  const { admin } = openAdmin(memoryStore(), limits);
  const { limits: shown } = await admin.key({ key: "x".repeat(191) });
  expect(shown.map(({ name }) => name)).toEqual(names.filter((name) => name !== "held"));
});

it("is shown without a round trip per limit", async () => {
  const store = memoryStore();
  const many = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`limit ${i}`, limits.bucket] as const),
  );
  const { admin } = openAdmin(store, many);
  await admin.key({ key: "ada" });
  let trips = 0;
  const { apply } = store;
  // As a store that sends calls of one turn together.
  let isOpen = false;
  store.apply = (...args) => {
    if (!isOpen) {
      trips++;
      isOpen = true;
      void setTimeout(0).then(() => (isOpen = false));
    }
    return apply.call(store, ...args) as never;
  };
  const { limits: shown } = await admin.key({ key: "ada" });
  expect(shown).toHaveLength(30);
  expect(trips).toBeLessThanOrEqual(3);
});
