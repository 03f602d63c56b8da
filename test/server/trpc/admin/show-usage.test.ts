/**
 * Use over time, as operators see it: of all processes if the limit counts usage, or else of this
 * process.
 */
import { describe, expect, it } from "vitest";
import { DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import { openAdmin } from "../../../support/admin-caller.js";
import { stores } from "../../../support/stores.js";

const limits = {
  counted: { kind: "token bucket", rate: 2, period: DAY, usage: true },
  other: { kind: "token bucket", rate: 2, period: DAY },
  slots: { kind: "concurrency", slots: 1 },
} as const;

describe.each(stores)("use over time on %s", (_, open) => {
  it("is that of all processes and keys, for a limit that counts it", async () => {
    // Usage may still be written at the end.
    await using opened = await open({ isNew: true });
    const START = 400 * DAY;
    let now = START;
    const options = { clock: () => now };
    const here = openAdmin(opened.store, limits, options);
    const there = openAdmin(opened.peer, limits, options);
    await here.limiter.limit("counted", { key: "ada", count: 2 });
    now += HOUR;
    await there.limiter.limit("counted", { key: "bob" });
    await there.limiter.limit("counted", { key: "ada" });
    await there.limiter.flushUsage();
    const { items, source, since } = await here.admin.usage({
      name: "counted",
      from: START,
      to: START + 2 * HOUR,
    });
    expect(items).toEqual([
      { start: START, end: START + HOUR, granted: 1, denied: 0, taken: 2, givenBack: 0 },
      { start: START + HOUR, end: START + 2 * HOUR, granted: 1, denied: 1, taken: 1, givenBack: 0 },
    ]);
    expect([source, since]).toEqual(["usage", START + HOUR - 90 * DAY]);
    const whole = await here.admin.usage({
      name: "counted",
      from: START,
      to: START + 2 * HOUR,
      every: 2 * HOUR,
    });
    expect(whole.items).toMatchObject([{ granted: 2, denied: 1, taken: 3 }]);
  });
});

describe("use of a limit that does not count it", () => {
  it("is what this process has decided, by the minute, since it began to look", async () => {
    let now = 10 * MINUTE + 30_000;
    const { limiter, admin } = openAdmin(memoryStore(), limits, { clock: () => now });
    await limiter.limit("other", { key: "ada" });
    await limiter.enter("slots", { key: "ada" });
    await limiter.enter("slots", { key: "ada" });
    now += MINUTE;
    await limiter.limit("other", { key: "ada" });
    await limiter.limit("other", { key: "ada" });
    await limiter.charge("other", { key: "bob", count: 7 });
    await limiter.check("other", { key: "bob" });
    const of = { from: 10 * MINUTE, to: 12 * MINUTE };
    const nothing = { granted: 0, denied: 0, taken: 0, givenBack: 0 };
    expect(await admin.usage({ name: "other", ...of })).toEqual({
      source: "process",
      since: 10 * MINUTE + 30_000,
      items: [
        { start: 10 * MINUTE, end: 11 * MINUTE, ...nothing, granted: 1, taken: 1 },
        { start: 11 * MINUTE, end: 12 * MINUTE, ...nothing, granted: 1, denied: 1, taken: 8 },
      ],
    });
    expect((await admin.usage({ name: "other", ...of, every: 2 * MINUTE })).items).toEqual([
      { start: 10 * MINUTE, end: 12 * MINUTE, ...nothing, granted: 2, denied: 1, taken: 9 },
    ]);
    // The last item may be shorter.
    const three = { from: 10 * MINUTE, to: 13 * MINUTE, every: 2 * MINUTE };
    expect((await admin.usage({ name: "other", ...three })).items.map(({ end }) => end)).toEqual([
      12 * MINUTE,
      13 * MINUTE,
    ]);
    const { items } = await admin.usage({ name: "slots", ...of });
    expect(items).toMatchObject([{ granted: 1, denied: 1 }, nothing]);
  });
});

describe("the newest denials", () => {
  it("are those of this process, newest first, with what was wanted and how long to wait", async () => {
    let now = DAY;
    const { limiter, admin } = openAdmin(memoryStore(), limits, { clock: () => now });
    await limiter.limit("other", { key: "ada", count: 2 });
    now += 1000;
    await limiter.limit("other", { key: "ada" });
    now += 1000;
    await limiter.limit("counted", { count: 2 });
    await limiter.limit("counted", { count: 2 });
    const { items, since, now: at } = await admin.denials();
    expect([since, at]).toEqual([DAY, now]);
    expect(items).toEqual([
      { at: now, name: "counted", count: 2, retryAfter: DAY },
      { at: now - 1000, name: "other", key: "ada", count: 1, retryAfter: DAY / 2 - 1000 },
    ]);
    expect((await admin.denials({ name: "other" })).items).toHaveLength(1);
    expect((await admin.denials({ count: 1 })).items).toMatchObject([{ name: "counted" }]);
  });
});
