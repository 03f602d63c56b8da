/** The spans that `usage` sums up: whole ones only, and those of a calendar's month. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";

const window = { kind: "fixed window", rate: 1e9, period: DAY } as const;
const limits = {
  hours: { ...window, usage: true },
  halves: { ...window, usage: { every: 30 * MINUTE } },
  minutes: { ...window, usage: { every: MINUTE } },
  days: { ...window, usage: { every: DAY } },
} as const;
const key = "ann";

function open() {
  const clock = createManualClock(Date.UTC(2030, 0, 1));
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock });
  const use = async (name: keyof typeof limits, at: string, count: number) => {
    clock.set(Date.parse(at));
    await limiter.charge(name, { key, count });
  };
  return { clock, limiter, use };
}

const iso = (at: number) => new Date(at).toISOString();

describe("a month", () => {
  it("is one of UTC, from its first span to its last", async () => {
    const { limiter, use } = open();
    await use("hours", "2030-03-31T23:59:59Z", 1);
    await use("hours", "2030-04-01T00:00:00Z", 2);
    await use("hours", "2030-04-30T23:59:59Z", 4);
    await use("hours", "2030-05-01T00:00:00Z", 8);
    const { items, total } = await limiter.usage("hours", { key, month: "2030-04" });
    expect(total.taken).toBe(6);
    expect(iso(items[0]!.start)).toBe("2030-04-01T00:00:00.000Z");
    expect(iso(items.at(-1)!.end)).toBe("2030-05-01T00:00:00.000Z");
    expect(items).toHaveLength(30 * 24);
  });

  it("is one of a time zone, across a change of its clock", async () => {
    const { limiter, use } = open();
    const zone = { key, month: "2030-03", timeZone: "Europe/Berlin" } as const;
    await use("hours", "2030-02-28T22:59:59Z", 1);
    await use("hours", "2030-02-28T23:00:00Z", 2);
    await use("hours", "2030-03-31T21:59:59Z", 4);
    await use("hours", "2030-03-31T22:00:00Z", 8);
    const { items, total } = await limiter.usage("hours", zone);
    expect(total.taken).toBe(6);
    expect(items).toHaveLength(31 * 24 - 1);
  });

  it("has the days of its zone, one of which may have 23 hours", async () => {
    const { limiter, use } = open();
    const zone = { key, month: "2030-03", timeZone: "Europe/Berlin", every: "day" } as const;
    await use("hours", "2030-03-30T22:59:59Z", 1);
    await use("hours", "2030-03-30T23:00:00Z", 2);
    await use("hours", "2030-03-31T21:59:59Z", 4);
    const { items } = await limiter.usage("hours", zone);
    expect(items).toHaveLength(31);
    expect(items.map(({ start, end }) => (end - start) / HOUR)).toEqual([
      ...Array(30).fill(24),
      23,
    ]);
    expect(items.slice(-2).map(({ taken }) => taken)).toEqual([1, 6]);
    const utc = await limiter.usage("days", { key, month: "2032-02", every: "day" });
    expect(utc.items).toHaveLength(29);
  });

  it("is that of Kolkata where spans are short enough", async () => {
    const { limiter, use } = open();
    const zone = { key, timeZone: "Asia/Kolkata" };
    await use("halves", "2030-03-31T18:29:59Z", 1);
    await use("halves", "2030-03-31T18:30:00Z", 2);
    const march = await limiter.usage("halves", { ...zone, month: "2030-03" });
    const april = await limiter.usage("halves", { ...zone, month: "2030-04", every: "day" });
    expect([march.total.taken, april.total.taken]).toEqual([1, 2]);
    expect(april.items).toHaveLength(30);
  });

  it("of minutes is read, too", async () => {
    const { limiter, use } = open();
    await use("minutes", "2030-01-31T23:59:00Z", 3);
    const { items, total } = await limiter.usage("minutes", { key, month: "2030-01" });
    expect([items.length, total.taken]).toEqual([31 * 24 * 60, 3]);
  });

  const inKolkata = /month 2030-04 of Asia\/Kolkata begins at 2030-03-31T18:30:00.000Z.*1800000/;
  it.each([
    ["hours", { month: "2030-04", timeZone: "Asia/Kolkata" }, inKolkata],
    ["hours", { month: "2030-04", timeZone: "Asia/Kolkata" }, /30 \* MINUTE.*from then on/],
    ["days", { month: "2030-04", timeZone: "Asia/Kathmandu" }, /15 \* MINUTE/],
    ["days", { month: "2030-04", timeZone: "Europe/Berlin" }, /3600000 \(HOUR\)/],
    ["days", { month: "2030-04", timeZone: "America/New_York" }, /3600000 \(HOUR\)/],
    ["hours", { month: "2030-07", timeZone: "Australia/Lord_Howe" }, /30 \* MINUTE/],
    ["hours", { month: "1970-01", timeZone: "Africa/Monrovia" }, /No usage.every would do/],
    ["hours", { month: "2030-4" }, /month must be .* such as "2030-04", got "2030-4"/],
    ["hours", { month: "2030-13" }, /month must be/],
    ["hours", { month: 4 }, /month must be/],
    ["hours", { month: "2030-04", timeZone: "Berlin" }, /timeZone must be the name.*"Berlin"/],
    ["hours", { month: "2030-04", from: 0 }, /from does not go with month/],
    ["hours", { from: 0, to: DAY, timeZone: "UTC" }, /timeZone goes with month/],
    ["hours", { from: 0, to: DAY, every: "day" }, /every: "day" goes with month/],
    ["hours", { month: "2030-04", every: "week" }, /every must be/],
    ["hours", {}, /from must be an instant/],
    ["hours", { from: undefined, to: DAY }, /from must be an instant/],
    ["hours", { from: 0, to: NaN }, /to must be an instant/],
    ["hours", { from: DAY, to: DAY }, /to must be after from/],
    ["hours", { from: 0, to: 50_001 * HOUR }, /50001 spans of 3600000 ms.* reads 50000/],
    [
      "hours",
      { from: 0, to: DAY, every: MINUTE },
      /a multiple of the limit's usage.every, 3600000/,
    ],
    ["hours", { from: 0, to: DAY, until: 1 }, /until is not an option of usage\(\)/],
    ["hours", { from: 0, to: DAY, key: undefined }, /key must not be undefined/],
  ] as const)("of %s is refused with %j", async (name, options, message) => {
    const { limiter } = open();
    await expect(limiter.usage(name, { key, ...options } as never)).rejects.toThrow(message);
  });
});

describe("an instant within a span", () => {
  const from = Date.UTC(2030, 3, 1);
  it.each([
    [{ from: from + 30 * MINUTE, to: from + DAY }, "from", from, from + HOUR],
    [{ from, to: from + DAY - 1 }, "to", from + 23 * HOUR, from + DAY],
  ])("is refused, as one span would be billed in two months: %j", async (span, option, a, b) => {
    const { limiter } = open();
    const promise = limiter.usage("hours", { key, ...span });
    await expect(promise).rejects.toMatchObject({ name: "RateLimitConfigError" });
    await expect(promise).rejects.toThrow(
      `${option} must be the start of a span of usage.every, 3600000 ms, got ${span[option as "to"]}; use ${a} or ${b}`,
    );
  });
});
