/** Days, weeks and months of a time zone, on every store. */
import { describe, expect, it } from "vitest";
import { decideRateLimit } from "../../../../core/decide.js";
import { createManualClock } from "../../../../core/testing.js";
import { withCalendar } from "../../../../core/with-calendar.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  isRateLimitError,
  memoryStore,
  type RateLimitConfig,
} from "../../../../server/index.js";
import type { BatchEvent } from "../../../../server/store/batch-event.js";
import { stores, storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  daily: { kind: "fixed window", rate: 5, period: "day", timeZone: "Europe/Berlin" },
  weekly: { kind: "fixed window", rate: 5, period: "week", timeZone: "Europe/Berlin" },
  sundays: { kind: "fixed window", rate: 5, period: "week", timeZone: "UTC", weekStart: 0 },
  monthly: { kind: "fixed window", rate: 5, period: "month", timeZone: "America/New_York" },
  carried: { kind: "fixed window", rate: 5, period: "day", capacity: 12 },
  spread: { kind: "fixed window", rate: 40, period: "day", timeZone: "Asia/Tokyo", shards: 2 },
  closing: { kind: "fixed window", rate: 2, period: "day", timeZone: "UTC", blockFor: 30 * HOUR },
  minutes: { kind: "fixed window", rate: 5, period: 60_000, start: 0 },
  bucket: { kind: "token bucket", rate: 5, period: 60_000 },
} as const;

const at = (iso: string) => Date.parse(`${iso}Z`);
const inZone = (timeZone: string): RateLimitConfig => ({ ...limits.daily, timeZone });

/** Berlin sets its clocks forward on 31 March 2030, and back on 27 October. */
const SPRING = at("2030-03-30T12:00");

describe.each(storesAndRedis)("windows of a time zone on %s", (_, open) => {
  const setUp = (now: number) => twoProcesses(open, limits, { now });

  it.each([
    ["daily", ["2030-03-29T23:00", "2030-03-30T23:00", "2030-03-31T22:00", "2030-04-01T22:00"]],
    ["daily", ["2030-10-25T22:00", "2030-10-26T22:00", "2030-10-27T23:00"]],
    ["weekly", ["2030-03-24T23:00", "2030-03-31T22:00", "2030-04-07T22:00"]],
    ["sundays", ["2030-03-24T00:00", "2030-03-31T00:00", "2030-04-07T00:00"]],
    ["monthly", ["2030-10-01T04:00", "2030-11-01T04:00", "2030-12-01T05:00"]],
  ] as const)("%s start and end at %o", async (name, instants) => {
    const starts = instants.map(at);
    const set = await setUp(starts[0]!);
    for (const [i, end] of starts.slice(1).entries()) {
      const start = starts[i]!;
      set.clock.set(start);
      const taken = await set.limiter.limit(name, { key: "one", count: 5 });
      expect(taken).toMatchObject({ ok: true, value: 0, ts: start });
      set.clock.set(end - 1);
      expect(await set.peer.limit(name, { key: "one" })).toMatchObject({
        ok: false,
        retryAfter: 1,
      });
    }
  });

  it("carry what is left over, up to the capacity", async () => {
    const set = await setUp(at("2030-01-10T12:00"));
    await set.limiter.limit("carried", { count: 9 });
    set.clock.advance(DAY);
    expect(await set.limiter.getValue("carried")).toMatchObject({ value: 8 });
    set.clock.advance(DAY);
    expect((await set.limiter.limit("carried", { count: 12 })).ok).toBe(true);
  });

  it("reserve the tokens of later days, charge into them, and give back", async () => {
    const set = await setUp(SPRING);
    await set.limiter.limit("daily", { count: 5 });
    const reserved = await set.limiter.limit("daily", { count: 7, reserve: true });
    const wait = at("2030-03-31T22:00") - SPRING;
    expect(reserved).toMatchObject({ ok: true, value: -7, retryAfter: wait });
    expect(await set.limiter.charge("daily", { count: 1 })).toMatchObject({ value: -8 });
    set.clock.set(at("2030-04-01T12:00"));
    const taken = await set.limiter.limit("daily", { count: 2 });
    expect(taken).toMatchObject({ ok: true, value: 0 });
    await set.peer.refund("daily", { count: 1 });
    expect(await set.limiter.getValue("daily")).toMatchObject({ value: 1 });
    // What the next day has brought is not given back a second time.
    set.clock.advance(DAY);
    await set.limiter.settle(taken, 0);
    expect(await set.limiter.getValue("daily")).toMatchObject({ value: 5 });
  });

  it("grant no more than there is to concurrent calls of two servers, with shards, too", async () => {
    const set = await setUp(at("2030-03-30T22:59:59.999"));
    for (const [name, most] of [
      ["daily", 5],
      ["spread", 40],
    ] as const) {
      set.clock.set(
        name === "daily" ? at("2030-03-30T22:59:59.999") : at("2030-01-01T14:59:59.999"),
      );
      for (let day = 0; day < 2; day++) {
        const calls = Array.from({ length: 70 }, (__, i) =>
          [set.limiter, set.peer][i % 2]!.limit(name, { key: "crowd" }),
        );
        expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(most);
        set.clock.advance(1);
      }
    }
  });

  it("stay closed until the first day that starts after blockFor", async () => {
    const set = await setUp(at("2030-05-05T12:00"));
    await set.limiter.limit("closing", { key: "one", count: 2 });
    const denied = await set.peer.limit("closing", { key: "one" });
    expect(denied).toMatchObject({ ok: false, retryAfter: at("2030-05-07T00:00") - set.clock() });
    set.clock.set(at("2030-05-06T23:59:59.999"));
    expect((await set.limiter.limit("closing", { key: "one" })).ok).toBe(false);
    set.clock.advance(1);
    expect(await set.limiter.limit("closing", { key: "one" })).toMatchObject({
      ok: true,
      value: 1,
    });
  });

  it("decide calls of many zones, and of other limits, together as core does", async () => {
    const set = await setUp(SPRING);
    const zones = ["Europe/Berlin", "Asia/Tokyo", "America/New_York", "Pacific/Apia", "UTC"];
    const rows = new Map<string, Parameters<typeof decideRateLimit>[0]>();
    for (let step = 0; step < 12; step++) {
      const calls = Array.from({ length: 40 }, (__, i) => {
        const key = `user ${(i * 7 + step) % 20}`;
        const other = ["minutes", "bucket", "monthly"][i % 6] as "minutes" | undefined;
        if (other !== undefined) return { key, name: other, config: limits[other] };
        // Some callers change their zone now and then.
        const zone = zones[(i + (i % 3 === 0 ? step : 0)) % zones.length]!;
        return { key, name: "daily" as const, config: inZone(zone) };
      });
      // One call per row at a time, so that their order does not matter.
      const unique = [
        ...new Map(calls.map((call) => [`${call.name} ${call.key}`, call])).entries(),
      ];
      const answers = await Promise.all(
        unique.map(([, { name, key, config }], i) =>
          [set.limiter, set.peer][i % 2]!.limit(name, { key, config }),
        ),
      );
      for (const [i, [id, { config }]] of unique.entries()) {
        const own = withCalendar(config as RateLimitConfig);
        const { result, next } = decideRateLimit(rows.get(id) ?? null, own, set.clock(), 1);
        if (next !== undefined) rows.set(id, next);
        expect(answers[i]).toMatchObject(result);
      }
      set.clock.advance((5 + (step % 4) * 4) * HOUR);
    }
  });

  it("send plain data: snapshots, values and errors have a list of windows", async () => {
    const set = await setUp(SPRING);
    const { limiter } = set;
    await limiter.limit("daily", { key: "one", count: 4 });
    await limiter.limit("spread", { key: "one", count: 4 });
    const [daily, spread] = await limiter.snapshots([
      { name: "daily", key: "one" },
      { name: "spread", key: "one" },
    ]);
    const next = ["2030-03-29T23:00", "2030-03-30T23:00", "2030-03-31T22:00"].map(at);
    const error = await limiter
      .limit("daily", { key: "one", count: 2, throws: true })
      .catch((caught: unknown) => caught);
    if (!isRateLimitError(error)) throw new Error("it was not denied");
    const configs = [
      daily!.config,
      spread!.config,
      (await limiter.getValue("daily", { key: "one" })).config,
      limiter.configOf("daily", { key: "one" }),
      error.data.rateLimit.config,
    ];
    for (const config of configs) {
      expect(JSON.parse(JSON.stringify(config))).toEqual(config);
      expect(Array.isArray(config.starts)).toBe(true);
    }
    expect(daily!.config.starts!.slice(0, 3)).toEqual(next);
    expect(error.data.rateLimit.config.starts!.slice(0, 3)).toEqual(next);
    const listed = await limiter.list("daily");
    expect(JSON.parse(JSON.stringify(listed))).toEqual({ items: listed.items });
    expect(listed.items[0]!.config.starts!.slice(0, 3)).toEqual(next);
    const all = await limiter
      .limitAll([{ name: "daily", key: "one", count: 3 }], { throws: true })
      .catch((caught: unknown) => caught);
    expect(JSON.stringify(all)).toContain(JSON.stringify(next).slice(1, -1));
  });
});

describe.each(stores)("windows of a time zone on %s", (name, open) => {
  it("are pruned once they were full for a window, since a caller's zone may change", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, { now: SPRING });
    for (const key of ["one", "two"]) await limiter.limit("daily", { key });
    clock.set(at("2030-03-31T12:00"));
    await limiter.limit("daily", { key: "two" });
    expect(await limiter.prune()).toBe(0);
    clock.set(at("2030-04-01T00:59"));
    expect(await limiter.prune()).toBe(0);
    // The first one has been full since the 30th at 23:00: for 26 hours, the longest day.
    clock.set(at("2030-04-01T01:02"));
    expect(await limiter.prune()).toBe(1);
    clock.set(at("2030-04-02T00:02"));
    expect(await limiter.prune()).toBe(1);
  });

  it("take one statement per call while a window lasts, and several at its end", async () => {
    await using opened = await open();
    if (opened.store.onBatch === undefined || name.startsWith("MySQL")) {
      // The memory has no statements, and MySQL reads a row first.
      expect(name).toMatch(/memory|MySQL/);
      return;
    }
    const clock = createManualClock(SPRING);
    const limiter = createRateLimiter({ store: opened.store, clock, limits });
    await limiter.check("daily", { key: "one" });
    const ways: BatchEvent["way"][] = [];
    opened.store.onBatch(({ way }) => void ways.push(way));
    for (let call = 0; call < 3; call++) await limiter.limit("daily", { key: "one" });
    await Promise.all([
      limiter.limit("daily", { key: "one" }),
      limiter.limit("daily", { key: "two" }),
      limiter.limit("weekly", { key: "two" }),
    ]);
    expect(new Set(ways)).toEqual(new Set(["take"]));
    clock.set(at("2030-03-30T23:00"));
    ways.length = 0;
    await limiter.limit("daily", { key: "one" });
    expect(ways).toEqual(["take", "decide"]);
    ways.length = 0;
    await limiter.limit("daily", { key: "one" });
    expect(ways).toEqual(["take"]);
  });
});

describe("a limit of a time zone", () => {
  it("drops the rows that are full again from a full memory store first", async () => {
    const clock = createManualClock(SPRING);
    const limiter = createRateLimiter({ store: memoryStore({ maxRows: 2 }), clock, limits });
    await limiter.limit("weekly", { key: "one", count: 5 });
    await limiter.limit("daily", { key: "two", count: 5 });
    clock.set(at("2030-03-30T23:00:02"));
    await limiter.limit("minutes", { key: "eve" });
    await limiter.limit("minutes", { key: "eve" });
    expect((await limiter.limit("weekly", { key: "one" })).ok).toBe(false);
  });
});
