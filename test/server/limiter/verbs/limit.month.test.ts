/** `period: "month"`: calendar months in UTC, counted from `start`. */
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

/** The 31st, at half past ten. */
const BILLING = Date.UTC(2027, 0, 31, 10, 30);
const limits = {
  billed: { kind: "fixed window", rate: 100, period: "month", start: BILLING },
  calendar: { kind: "fixed window", rate: 100, period: "month", start: 0 },
  carried: { kind: "fixed window", rate: 100, period: "month", start: 0, capacity: 200 },
  spread: { kind: "fixed window", rate: 100, period: "month", start: 0, shards: 2 },
  unaligned: { kind: "fixed window", rate: 100, period: "month" },
  minutes: { kind: "fixed window", rate: 100, period: MINUTE, start: 0 },
} as const;

describe.each(stores)("months on %s", (_, open) => {
  const setUp = (now: number) => twoProcesses(open, limits, { now });

  it("begin on the 31st, or on the last day of a shorter month, over a leap February", async () => {
    const at = await setUp(Date.UTC(2027, 10, 30, 10, 30));
    const starts = [
      Date.UTC(2027, 10, 30, 10, 30),
      Date.UTC(2027, 11, 31, 10, 30),
      Date.UTC(2028, 0, 31, 10, 30),
      Date.UTC(2028, 1, 29, 10, 30),
      Date.UTC(2028, 2, 31, 10, 30),
      Date.UTC(2028, 3, 30, 10, 30),
    ];
    for (const [i, end] of starts.slice(1).entries()) {
      const start = starts[i]!;
      at.clock.set(start);
      expect(await at.limiter.limit("billed", { count: 100 })).toMatchObject({
        ok: true,
        ts: start,
      });
      expect(await at.peer.limit("billed")).toMatchObject({ ok: false, retryAfter: end - start });
      at.clock.set(end - 1);
      expect(await at.peer.limit("billed")).toMatchObject({ ok: false, retryAfter: 1 });
    }
  });

  it("carry what is left over, up to the capacity", async () => {
    const at = await setUp(Date.UTC(2030, 0, 10));
    await at.limiter.limit("carried", { count: 160 });
    at.clock.set(Date.UTC(2030, 1, 1) - 1);
    expect(await at.limiter.getValue("carried")).toMatchObject({ value: 40 });
    at.clock.advance(1);
    expect(await at.limiter.getValue("carried")).toMatchObject({
      value: 140,
      ts: Date.UTC(2030, 1, 1),
    });
    at.clock.set(Date.UTC(2030, 2, 1));
    expect(await at.limiter.limit("carried", { count: 200 })).toMatchObject({ ok: true, value: 0 });
    at.clock.set(Date.UTC(2030, 6, 15));
    expect((await at.limiter.limit("carried", { count: 200 })).ok).toBe(true);
  });

  it("reserve the tokens of later months, and charge into them", async () => {
    const at = await setUp(Date.UTC(2030, 0, 31, 23));
    await at.limiter.limit("calendar", { count: 100 });
    const reserved = await at.limiter.limit("calendar", { count: 150, reserve: true });
    const wait = Date.UTC(2030, 2, 1) - at.clock();
    expect(reserved).toMatchObject({ ok: true, value: -150, retryAfter: wait });
    const charged = await at.limiter.charge("calendar", { count: 100 });
    expect(charged).toEqual({ value: -250, retryAfter: Date.UTC(2030, 3, 1) - at.clock() });
    at.clock.advance(wait);
    expect(await at.limiter.check("calendar")).toMatchObject({ ok: false, retryAfter: 31 * DAY });
  });

  it("grant no more than there is to concurrent calls of two servers, with shards, too", async () => {
    const at = await setUp(Date.UTC(2032, 1, 29, 23, 59, 59, 999));
    for (const name of ["calendar", "spread"] as const) {
      for (let month = 0; month < 2; month++) {
        const calls = Array.from({ length: 130 }, (__, i) =>
          [at.limiter, at.peer][i % 2]!.limit(name),
        );
        const answers = await Promise.all(calls);
        expect(answers.filter(({ ok }) => ok)).toHaveLength(100);
        at.clock.advance(1);
      }
      at.clock.set(Date.UTC(2032, 1, 29, 23, 59, 59, 999));
    }
  });

  it("are full again after a reset", async () => {
    const at = await setUp(Date.UTC(2030, 0, 15));
    await at.limiter.limit("billed", { count: 100 });
    await at.limiter.reset("billed");
    expect((await at.limiter.limit("billed", { count: 100 })).ok).toBe(true);
  });

  it("are pruned once their month is over, with a start of their own and without", async () => {
    const at = await setUp(Date.UTC(2028, 1, 29, 10, 30));
    const names = ["billed", "calendar", "unaligned", "spread", "minutes"] as const;
    const owners = [{}, { key: "ada" }, { key: "bob" }];
    for (const name of names) for (const owner of owners) await at.limiter.limit(name, owner);
    const ends = await Promise.all(
      owners.map(async (owner) => {
        const { retryAfter } = await at.limiter.check("unaligned", { ...owner, count: 100 });
        return at.clock() + retryAfter!;
      }),
    );
    at.clock.advance(HOUR);
    // Only those of a minute are full again.
    expect(await at.limiter.prune()).toBe(3);
    at.clock.set(Date.UTC(2028, 2, 1) + 2 * MINUTE);
    const early = ends.filter((end) => end + MINUTE <= at.clock()).length;
    expect(await at.limiter.prune()).toBe(2 * 3 + early);
    expect(await at.limiter.getValue("billed")).toMatchObject({ value: 99 });
    at.clock.set(Date.UTC(2028, 2, 31, 10, 30) + 2 * MINUTE);
    expect(await at.limiter.prune()).toBe(3 + ends.length - early);
    expect(await at.limiter.getValue("billed")).toMatchObject({ value: 100 });
  });
});
