import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFakeRateLimits, createManualClock } from "../../testing/index.js";
import { HOUR, MINUTE } from "../../core/durations.js";
import { itThrows } from "../support/refusals.js";

const LIMITS = {
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  windowed: { kind: "fixed window", rate: 2, period: HOUR },
  daily: { kind: "fixed window", rate: 2, period: "day", timeZone: "Asia/Tokyo" },
} as const;
const item = { name: "sendMessage" };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("fake rate limits", () => {
  const { deny: denyFake, fill: fillFake } = createFakeRateLimits();
  const missing = { name: "sendMessage", key: undefined };
  itThrows(Error, [
    [() => denyFake(missing, Date.now() + 1000), "key must not be undefined"],
    [() => fillFake(missing), "key must not be undefined"],
    [() => denyFake("sendMessage", Date.now()), "retryAt must be after"],
    [() => denyFake("sendMessage", NaN), "got NaN"],
  ]);

  it("grant everything from the first read, until the test changes them", () => {
    const limits = createFakeRateLimits();
    expect(limits.status(item, 1)).toEqual({ ok: true });
    expect(limits.status({ name: "another", key: "k" }, 1)).toEqual({ ok: true });
    expect(limits.remaining(item)).toBe(1);
    expect(limits.connection).toBe("live");
  });

  it.each(["sendMessage", "windowed", "daily"] as const)(
    "deny %s until the promised ms, and turn ok by themselves",
    async (name) => {
      const limits = createFakeRateLimits({ limits: LIMITS });
      const onChange = vi.fn();
      limits.observe({ name }, 1, onChange);
      await vi.advanceTimersByTimeAsync(10);
      onChange.mockClear();
      const retryAt = Date.now() + 5000;
      limits.deny(name, retryAt);
      expect(onChange).toHaveBeenCalledTimes(1);
      expect(limits.status({ name }, 1)).toEqual({ ok: false, retryAt });
      expect(limits.remaining({ name })).toBe(0);
      expect(limits.check({ name }, retryAt - 1, 1)?.retryAt).toBe(retryAt);
      await vi.advanceTimersByTimeAsync(4999);
      expect(limits.status({ name }, 1)?.ok).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(limits.status({ name }, 1)).toEqual({ ok: true });
      expect(onChange).toHaveBeenCalledTimes(2);
    },
  );

  it("have what a plan has, the first one by default", () => {
    const planned = {
      ...LIMITS,
      pictures: { kind: "fixed window", period: HOUR, plans: { free: 5, pro: { rate: 50 } } },
      work: { kind: "concurrency", plans: { free: 1, pro: 2 } },
      videos: { kind: "token bucket", period: HOUR, plans: { free: "none", pro: "unlimited" } },
    } as const;
    const left = (plan?: string) => {
      const limits = createFakeRateLimits({ limits: planned, plan });
      const of = (name: string) => [limits.remaining({ name }), limits.status({ name }, 1)?.ok];
      return [of("pictures"), of("work"), of("videos"), of("sendMessage")];
    };
    const ofFree = [
      [5, true],
      [1, true],
      [0, false],
      [3, true],
    ];
    expect(left()).toEqual(ofFree);
    expect(left("free")).toEqual(ofFree);
    expect(left("pro")).toEqual([
      [50, true],
      [2, true],
      [1, true],
      [3, true],
    ]);
    expect(() => left("por")).toThrow("plan must be one of free, pro, got por");
  });

  it("deny slots until the promised ms", async () => {
    const limits = createFakeRateLimits({
      limits: { work: { kind: "concurrency", slots: 2 } },
    });
    expect(limits.remaining({ name: "work" })).toBe(2);
    const retryAt = Date.now() + 5000;
    limits.deny("work", retryAt);
    expect(limits.status({ name: "work" }, 1)).toEqual({ ok: false, retryAt });
    expect(limits.remaining({ name: "work" })).toBe(0);
    await vi.advanceTimersByTimeAsync(5000);
    expect(limits.status({ name: "work" }, 1)).toEqual({ ok: true });
    limits.fill("work", 1);
    expect(limits.remaining({ name: "work" })).toBe(1);
  });

  it("take the credits of a limiter, which no wait brings back", () => {
    const limits = createFakeRateLimits({
      limits: { ...LIMITS, credits: { kind: "credits" } },
    });
    const credits = { name: "credits" };
    expect(limits.status(credits, 1)).toEqual({ ok: true });
    limits.deny("credits", Date.now() + 5000);
    expect(limits.status(credits, 1)).toEqual({ ok: false, retryAt: Infinity });
    expect(limits.remaining(credits)).toBe(0);
    limits.fill("credits", 3);
    expect(limits.status(credits, 3)).toEqual({ ok: true });
    expect(limits.status(credits, 4)).toEqual({ ok: false, retryAt: Infinity });
    expect(limits.remaining(credits)).toBe(3);
  });

  it("keep their state when they are read again", async () => {
    const limits = createFakeRateLimits({ limits: LIMITS });
    const retryAt = Date.now() + HOUR;
    limits.deny("sendMessage", retryAt);
    limits.observe(item, 1, () => {});
    limits.refresh();
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(limits.status(item, 1)).toEqual({ ok: false, retryAt });
  });

  it("distinguish keys and counts, and hold what they are filled with", () => {
    const limits = createFakeRateLimits({ limits: LIMITS });
    limits.deny({ name: "sendMessage", key: "ann" }, Date.now() + 5000);
    expect(limits.status({ name: "sendMessage", key: "ann" }, 1)?.ok).toBe(false);
    expect(limits.status(item, 1)?.ok).toBe(true);
    limits.fill("sendMessage", 2);
    expect(limits.remaining(item)).toBe(2);
    expect(limits.status(item, 2)?.ok).toBe(true);
    expect(limits.status(item, 3)).toEqual({ ok: false, retryAt: Date.now() + 6000 });
    limits.fill("sendMessage");
    expect(limits.remaining(item)).toBe(3);
    limits.deny("sendMessage", Date.now() + 5000, 2);
    expect(limits.status(item, 2)).toEqual({ ok: false, retryAt: Date.now() + 5000 });
    expect(limits.config(item)).toEqual(LIMITS.sendMessage);
  });

  it("take debits, and give them back", () => {
    const limits = createFakeRateLimits({ limits: LIMITS });
    const giveBack = limits.debit(item, 3);
    expect(limits.status(item, 1)).toEqual({ ok: false, retryAt: Date.now() + 6000 });
    giveBack();
    expect(limits.status(item, 3)).toEqual({ ok: true });
  });

  it("use the clock that they are given", () => {
    const clock = createManualClock();
    const limits = createFakeRateLimits({ clock });
    limits.deny("sendMessage", clock() + 5000);
    clock.advance(5000);
    expect(limits.status(item, 1)).toEqual({ ok: true });
  });

  it("have the names of their configs only, where they are given some", () => {
    const limits = createFakeRateLimits({ limits: LIMITS });
    const { fill } = limits;
    const message =
      'unknown rate limit "nope": the limits of createFakeRateLimits() are sendMessage, windowed';
    // @ts-expect-error a name that is not there
    expect(() => limits.deny("nope", Date.now() + 1000)).toThrow(message);
    // @ts-expect-error the same
    expect(() => fill({ name: "nope", key: "ann" })).toThrow(message);
    expect(limits.status({ name: "nope" }, 1)).toEqual({ ok: true });
  });

  it("have the names of a limiter by its type alone", () => {
    const limits = createFakeRateLimits<{ limits: typeof LIMITS }>();
    limits.deny("windowed", Date.now() + 1000);
    // @ts-expect-error a name that the limiter does not have
    limits.deny("nope", Date.now() + 1000);
    const named = createFakeRateLimits<"one" | "two">();
    named.fill("two");
    // @ts-expect-error the same
    named.fill("three");
    expect(limits.status({ name: "windowed" }, 1)?.ok).toBe(false);
  });
});
