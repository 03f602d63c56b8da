/** Tokens that a call holds under an id, and that any process settles. */
import { beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  tokens: { kind: "token bucket", rate: 100, period: HOUR, holds: true },
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  days: { kind: "fixed window", rate: 100, period: "day", timeZone: "Europe/Berlin", holds: true },
  credits: { kind: "credits", holds: true },
  leased: { kind: "token bucket", rate: 60, period: MINUTE, lease: { ms: 1000 }, holds: true },
  perMinute: { kind: "token bucket", rate: 10, period: MINUTE },
  plain: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;
const key = "user 1|a\\";
const keep = { for: 10 * MINUTE, then: "keep" } as const;
const release = { for: 10 * MINUTE, then: "release" } as const;

describe.each(storesAndRedis)("holds on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it.each(["tokens", "quota", "days"] as const)(
    "of %s are settled once, by another process",
    async (name) => {
      const { ok, value } = await at.limiter.limit(name, { key, count: 60, once: "a", hold: keep });
      expect([ok, value]).toEqual([true, 40]);
      expect(await at.peer.getValue(name, { key })).toMatchObject({ value: 40, held: 60 });
      const [hold] = await at.peer.holds(name, { key });
      expect(hold).toMatchObject({ once: "a", count: 60, until: at.clock() + 10 * MINUTE });
      expect(hold?.then).toBe("keep");
      expect(await at.peer.settle(name, { key, once: "a" }, 25)).toEqual({
        settled: true,
        count: 60,
        value: 75,
      });
      for (const limiter of [at.limiter, at.peer]) {
        const again = await limiter.settle(name, { key, once: "a" }, 0);
        expect(again).toEqual({ settled: false, reason: "settled" });
        const released = await limiter.release(name, { key, once: "a" });
        expect(released).toEqual({ released: false, reason: "settled" });
      }
      expect(await at.limiter.getValue(name, { key })).toMatchObject({ value: 75, held: 0 });
      expect(await at.limiter.holds(name, { key })).toEqual([]);
      const repeated = await at.limiter.limit(name, { key, count: 60, once: "a", hold: keep });
      expect(repeated).toMatchObject({ ok: true, repeated: true, value: 40 });
    },
  );

  it("are charged for what was used beyond the estimate, into debt", async () => {
    await at.limiter.limit("tokens", { key, count: 90, once: "a", hold: keep });
    const settled = await at.peer.settle("tokens", { key, once: "a" }, 120);
    expect(settled).toEqual({ settled: true, count: 90, value: -20 });
    expect(at.events.at(-1)).toMatchObject({ action: "charge", name: "tokens", count: 30 });
  });

  it("stay as they were estimated where the use is not known", async () => {
    for (const [i, actual] of [undefined, null, NaN].entries()) {
      const once = `id ${i}`;
      await at.limiter.limit("tokens", { key, count: 20, once, hold: release });
      const settled = await at.peer.settle("tokens", { key, once }, actual);
      expect(settled).toMatchObject({ settled: true, count: 20 });
    }
    expect(await at.limiter.getValue("tokens", { key })).toMatchObject({ value: 40, held: 0 });
  });

  it("come back when they are released, and the id can take them again", async () => {
    const call = { key, count: 60, once: "a", hold: keep } as const;
    await at.limiter.limit("quota", call);
    const released = await at.peer.release("quota", { key, once: "a" });
    expect(released).toEqual({ released: true, count: 60, value: 100 });
    expect(await at.limiter.settle("quota", { key, once: "a" }, 60)).toEqual({
      settled: false,
      reason: "released",
    });
    expect(await at.limiter.limit("quota", call)).not.toHaveProperty("repeated");
    expect(await at.limiter.getValue("quota", { key })).toMatchObject({ value: 40, held: 60 });
  });

  it("that lapse are kept, or come back before a call is denied", async () => {
    for (const [once, hold] of [
      ["keep", keep],
      ["back", release],
      ["later", { ...release, for: HOUR }],
    ] as const) {
      await at.limiter.limit("quota", { key, count: 30, once, hold });
    }
    at.clock.advance(10 * MINUTE - 1);
    expect(await at.limiter.limit("quota", { key, count: 40 })).toMatchObject({ ok: false });
    at.clock.advance(1);
    // What is granted without it does not look for it.
    expect(await at.limiter.limit("quota", { key, count: 10 })).toMatchObject({ value: 0 });
    expect(await at.peer.check("quota", { key, count: 30 })).toMatchObject({ ok: true, value: 0 });
    expect(await at.peer.limit("quota", { key, count: 31 })).toMatchObject({
      ok: false,
      value: 30,
    });
    expect(await at.peer.limit("quota", { key, count: 30 })).toMatchObject({ ok: true, value: 0 });
    for (const [once, reason] of [
      ["keep", "kept"],
      ["back", "given back"],
      ["other", "unknown"],
    ] as const) {
      const settled = await at.limiter.settle("quota", { key, once }, 1);
      expect(settled).toEqual({ settled: false, reason });
    }
    expect(await at.limiter.getValue("quota", { key })).toMatchObject({ value: 0, held: 30 });
  });

  it("that have lapsed end by what their call chose, also where they are settled late", async () => {
    await at.limiter.limit("quota", { key, count: 30, once: "keep", hold: keep });
    await at.limiter.limit("quota", { key, count: 30, once: "back", hold: release });
    at.clock.advance(10 * MINUTE);
    const late = await at.limiter.settle("quota", { key, once: "keep" }, 5);
    expect(late).toEqual({ settled: false, reason: "kept" });
    const back = await at.limiter.release("quota", { key, once: "back" });
    expect(back).toEqual({ released: false, reason: "given back" });
    expect(await at.limiter.getValue("quota", { key })).toMatchObject({ value: 70, held: 0 });
    // The id of the one that came back is charged anew.
    const again = await at.limiter.limit("quota", { key, count: 30, once: "back", hold: keep });
    expect(again).toMatchObject({ ok: true, value: 40 });
  });

  it("give back no more than the bucket would hold without them", async () => {
    await at.limiter.limit("tokens", { key, count: 60, once: "a", hold: keep });
    at.clock.advance(HOUR / 4);
    await at.limiter.settle("tokens", { key, once: "a" }, 0);
    expect((await at.limiter.getValue("tokens", { key })).value).toBe(65);
    await at.limiter.limit("leased", { key, count: 30, once: "a", hold: keep });
    at.clock.advance(MINUTE / 4);
    await at.peer.settle("leased", { key, once: "a" }, 0);
    expect((await at.limiter.getValue("leased", { key })).value).toBeLessThanOrEqual(60);
  });

  it("of credits come back whole, however late, and never below what was paid", async () => {
    await at.limiter.credit("credits", { key, count: 100 });
    await at.limiter.limit("credits", { key, count: 100, once: "job", hold: release });
    at.clock.advance(2 * DAY);
    expect(await at.peer.limit("credits", { key, count: 100 })).toMatchObject({
      ok: true,
      value: 0,
    });
  });

  it("of several limits are those of the limits that hold, and one of each bucket", async () => {
    const items = [
      { name: "perMinute", key },
      { name: "tokens", key, count: 70 },
      { name: "quota", key, count: 20 },
    ] as const;
    const options = { once: "a", hold: keep } as const;
    expect(await at.limiter.limitAll(items, options)).toMatchObject({ ok: true });
    await at.peer.settle(["tokens", "quota"], { key, once: "a" }, 10);
    expect(await at.limiter.getValue("tokens", { key })).toMatchObject({ value: 90, held: 0 });
    expect(await at.limiter.getValue("quota", { key })).toMatchObject({ value: 90, held: 0 });
    expect(await at.limiter.getValue("perMinute", { key })).not.toHaveProperty("held");
    const twice = await at.limiter.limitAll(
      [
        { name: "tokens", key, count: 10 },
        { name: "tokens", key, count: 20 },
      ],
      { once: "b", hold: keep },
    );
    expect(twice.ok).toBe(true);
    const settled = await at.peer.settle("tokens", { key, once: "b" }, 5);
    expect(settled).toEqual({ settled: true, count: 30, value: 85 });
  });

  it("of the limits that paid end together", async () => {
    await at.limiter.credit("credits", { key, count: 100 });
    const names = ["quota", "credits"] as const;
    const call = { key, count: 130, split: true, once: "a", hold: keep } as const;
    const paid = await at.limiter.limitFirst(names, call);
    expect(paid).toMatchObject({ ok: true, paid: [{ count: 100 }, { count: 30 }] });
    const again = await at.peer.limitFirst(names, call);
    expect(again).toMatchObject({ ok: true, paid: [], repeated: true });
    // The credits were paid last, so they come back first.
    const settled = await at.peer.settle(names, { key, once: "a" }, 90);
    expect(settled).toMatchObject({ settled: true, count: 130 });
    expect((await at.limiter.getValue("credits", { key })).value).toBe(100);
    expect((await at.limiter.getValue("quota", { key })).value).toBe(10);
    expect(await at.peer.settle(names, { key, once: "a" }, 90)).toEqual({
      settled: false,
      reason: "settled",
    });
  });

  it("are ended by the result itself, too", async () => {
    const call = { key, count: 60, hold: keep } as const;
    const result = await at.limiter.limit("quota", { ...call, once: "a" });
    await at.limiter.settle(result, 10);
    expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 90, held: 0 });
    const other = await at.limiter.limit("quota", { ...call, once: "b" });
    await at.limiter.refund("quota", { key, count: 60, result: other });
    expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 90, held: 0 });
  });

  it("are not ended by a repeat of their call, whatever it has used", async () => {
    await at.limiter.credit("credits", { key, count: 100 });
    const call = { key, count: 60, once: "a", hold: keep } as const;
    const names = ["tokens", "credits"] as const;
    const paid = { key, count: 130, split: true, once: "b", hold: keep } as const;
    const items = [
      { name: "quota", key },
      { name: "days", key, count: 70 },
    ] as const;
    const first = await at.limiter.limit("quota", call);
    const all = await at.limiter.limitFirst(names, paid);
    await at.limiter.limitAll(items, { once: "a", hold: keep });
    const again = await at.peer.limit("quota", call);
    const repeats = [
      again,
      await at.peer.acquire("quota", call),
      await at.peer.limitFirst(names, paid),
      ...(await at.peer.limitAll(items, { once: "a", hold: keep })).results,
    ];
    const states = async () => {
      const of = ["quota", "tokens", "credits", "days"] as const;
      const got = await Promise.all(of.map((name) => at.limiter.getValue(name, { key })));
      return got.map(({ value, held }) => [value, held]);
    };
    const before = await states();
    for (const repeat of repeats) {
      expect(repeat).toMatchObject({ ok: true });
      for (const actual of [0, 5, 200, undefined]) {
        expect(await at.peer.settle(repeat, actual)).toEqual({ settled: false });
      }
    }
    await at.peer.refund("quota", { key, count: 60, result: again });
    expect(await states()).toEqual(before);
    expect(await at.limiter.settle(first, 20)).toEqual({ settled: true });
    expect(await at.limiter.settle(all, 50)).toEqual({ settled: true });
    expect(await states()).toEqual([
      [80, 0],
      [50, 0],
      [100, 0],
      [30, 70],
    ]);
  });

  it("are ended by prune, which leaves the others", async () => {
    await at.limiter.limit("quota", { key, count: 30, once: "back", hold: release });
    await at.limiter.limit("quota", { key, count: 30, once: "keep", hold: keep });
    await at.limiter.limit("quota", { key, count: 30, once: "open", hold: { ...keep, for: DAY } });
    at.clock.advance(10 * MINUTE);
    expect(await at.peer.prune()).toBe(2);
    expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 40, held: 30 });
    expect(await at.peer.holds("quota", { key })).toMatchObject([{ once: "open" }]);
  });

  it("are forgotten with their key", async () => {
    await at.limiter.limit("quota", { key, count: 30, once: "a", hold: keep });
    expect(await at.peer.forget(key)).toBe(5);
    expect(await at.limiter.settle("quota", { key, once: "a" }, 1)).toMatchObject({
      reason: "unknown",
    });
  });
});
