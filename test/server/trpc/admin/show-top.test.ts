/** The keys with the most, as operators see them: of all processes if the limit counts usage. */
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import { createRateLimiter } from "../../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../../server/trpc/index.js";
import { asJson, openAdmin } from "../../../support/admin-caller.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  counted: { kind: "token bucket", rate: 2, period: DAY, usage: true },
  plain: { kind: "token bucket", rate: 2, period: DAY },
  slots: { kind: "concurrency", slots: 1 },
} as const;
const START = 20_000 * DAY;
const day = { from: START, to: START + DAY };

describe.each(storesAndRedis)("the keys with the most on %s", (_, open) => {
  it("are those of all processes and limits, with their share, and where they are from", async () => {
    // Usage may still be written at the end.
    await using opened = await open({ isNew: true });
    const options = { clock: () => START + HOUR };
    const here = openAdmin(opened.store, limits, options);
    const there = openAdmin(opened.peer, limits, options);
    for (let i = 0; i < 5; i++) await there.limiter.limit("counted", { key: "bob" });
    for (let i = 0; i < 3; i++) await here.limiter.limit("counted", { key: "ann", count: 2 });
    for (let i = 0; i < 7; i++) await here.limiter.limit("plain", { key: "ann" });
    await here.limiter.limit("plain");
    await there.limiter.flushUsage();
    const answer = asJson(await here.admin.top({ ...day, by: "denied" }));
    expect(answer).toEqual({
      now: START + HOUR,
      items: [
        { name: "plain", key: "ann", granted: 2, denied: 5, taken: 2, share: 0.5 },
        { name: "counted", key: "bob", granted: 2, denied: 3, taken: 2, share: 0.3 },
        { name: "counted", key: "ann", granted: 1, denied: 2, taken: 2, share: 0.2 },
      ],
      total: { granted: 6, denied: 10, taken: 7 },
      sources: [
        { name: "counted", source: "usage", since: START + HOUR - 90 * DAY },
        { name: "plain", source: "process", since: START + HOUR },
        { name: "slots", source: "process", since: START + HOUR },
      ],
    });
    const one = await here.admin.top({ ...day, name: "counted", by: "taken", count: 1 });
    expect(one.items).toEqual([
      {
        name: "counted",
        key: expect.any(String),
        granted: expect.any(Number),
        denied: expect.any(Number),
        taken: 2,
        share: 0.5,
      },
    ]);
    expect(one.total).toEqual({ granted: 3, denied: 5, taken: 4 });
    expect(one.sources).toHaveLength(1);
    const shared = await here.admin.top({ ...day, name: "plain", by: "taken" });
    expect(shared.items.map(({ key, taken }) => [key, taken])).toEqual([
      ["ann", 2],
      [undefined, 1],
    ]);
  });
});

describe("the keys with the most", () => {
  it("are of the range that was asked for, and of whole spans", async () => {
    const time = { now: START };
    const { limiter, admin } = openAdmin(memoryStore(), limits, { clock: () => time.now });
    const hammer = async () => {
      for (const name of ["counted", "plain"] as const) await limiter.limit(name, { key: "ann" });
    };
    await hammer();
    time.now += 2 * HOUR;
    await hammer();
    const top = async (from: number, to: number) =>
      (await admin.top({ from, to, by: "taken" })).total;
    expect(await top(START, time.now + 1)).toMatchObject({ taken: 4 });
    expect(await top(START + 2 * HOUR + MINUTE, time.now + 2 * MINUTE)).toMatchObject({ taken: 2 });
    expect(await top(START + HOUR, START + 2 * HOUR)).toMatchObject({ taken: 0 });
    const slots = async () => (await admin.top({ ...day, name: "slots", by: "denied" })).items;
    await limiter.enter("slots", { key: "ann" });
    await limiter.enter("slots", { key: "ann" });
    expect(await slots()).toMatchObject([{ key: "ann", granted: 1, denied: 1, share: 1 }]);
  });

  it("are read once for operators who ask the same at the same time, and then anew", async () => {
    const store = memoryStore();
    const { sums } = store;
    let reads = 0;
    store.sums = (...of) => {
      reads++;
      return sums!(...of);
    };
    const { limiter, admin } = openAdmin(store, limits, { clock: () => START });
    const top = (by: "denied" | "taken") => admin.top({ ...day, name: "counted", by });
    await limiter.limit("counted", { key: "ann" });
    const answers = await Promise.all([top("taken"), top("taken"), top("denied")]);
    expect(answers.map(({ items }) => items.length)).toEqual([1, 1, 0]);
    expect(reads).toBe(2);
    await limiter.limit("counted", { key: "bob" });
    expect((await top("taken")).items).toHaveLength(2);
    expect(reads).toBe(3);
  });

  it("are shown as they are stored, where keys are hashed", async () => {
    const hashKey = (key: string) => `#${key}`;
    const options = { hashKey, clock: () => START };
    const { limiter, admin } = openAdmin(memoryStore(), limits, options);
    for (const name of ["counted", "plain"] as const) await limiter.limit(name, { key: "ann" });
    const { items } = await admin.top({ ...day, by: "taken" });
    expect(items.map(({ name, key }) => [name, key])).toEqual([
      ["counted", "#ann"],
      ["plain", "#ann"],
    ]);
  });

  it("tell nothing of limits that the caller may not view: no key, no number, no name", async () => {
    const asked: unknown[] = [];
    const { limiter, admin } = openAdmin(memoryStore(), limits, {
      clock: () => START,
      authorize({ action, name }) {
        asked.push([action, name]);
        return name === undefined || name === "plain";
      },
    });
    await limiter.limit("counted", { key: "secret" });
    await limiter.limit("plain", { key: "ann" });
    expect(asJson(await admin.top({ ...day, by: "taken" }))).toEqual({
      now: START,
      items: [{ name: "plain", key: "ann", granted: 1, denied: 0, taken: 1, share: 1 }],
      total: { granted: 1, denied: 0, taken: 1 },
      sources: [{ name: "plain", source: "process", since: START }],
    });
    expect(asked).toEqual([
      ["view", undefined],
      ["view", "counted"],
      ["view", "plain"],
      ["view", "slots"],
    ]);
    await expect(admin.top({ ...day, name: "counted", by: "taken" })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
  });

  it("are nobody's to see without admin.authorize", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    const t = initTRPC.create();
    const { admin } = createRateLimitTRPC({ t, limiter, key: SHARED_BUCKET });
    await limiter.limit("plain", { key: "ann" });
    const call = admin.createCaller({}).top({ ...day, by: "taken" });
    await expect(call).rejects.toMatchObject({ code: "FORBIDDEN" });
    await limiter.flushUsage();
  });
});
