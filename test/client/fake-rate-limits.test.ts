import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFakeRateLimits, createManualClock } from "../../client/testing/index.js";
import { HOUR, MINUTE } from "../../core/durations.js";

const LIMITS = {
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  windowed: { kind: "fixed window", rate: 2, period: HOUR },
} as const;
const item = { name: "sendMessage" };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("fake rate limits", () => {
  it("grant everything until told otherwise, from the first look on", () => {
    const limits = createFakeRateLimits();
    expect(limits.status(item, 1)).toEqual({ ok: true });
    expect(limits.status({ name: "another", key: "k" }, 1)).toEqual({ ok: true });
    expect(limits.left(item)).toBe(1);
    expect(limits.connection).toBe("live");
  });

  it.each(["sendMessage", "windowed"] as const)(
    "refuse %s until the promised ms, and turn ok by themselves",
    async (name) => {
      const limits = createFakeRateLimits({ limits: LIMITS });
      const onChange = vi.fn();
      limits.observe({ name }, 1, onChange);
      await vi.advanceTimersByTimeAsync(10);
      onChange.mockClear();
      const retryAt = Date.now() + 5000;
      limits.refuse(name, retryAt);
      expect(onChange).toHaveBeenCalledTimes(1);
      expect(limits.status({ name }, 1)).toEqual({ ok: false, retryAt });
      expect(limits.left({ name })).toBe(0);
      expect(limits.check({ name }, retryAt - 1, 1)?.retryAt).toBe(retryAt);
      await vi.advanceTimersByTimeAsync(4999);
      expect(limits.status({ name }, 1)?.ok).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(limits.status({ name }, 1)).toEqual({ ok: true });
      expect(onChange).toHaveBeenCalledTimes(2);
    },
  );

  it("stay as they were told when they are asked for again", async () => {
    const limits = createFakeRateLimits({ limits: LIMITS });
    const retryAt = Date.now() + HOUR;
    limits.refuse("sendMessage", retryAt);
    limits.observe(item, 1, () => {});
    limits.refresh();
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(limits.status(item, 1)).toEqual({ ok: false, retryAt });
  });

  it("tell keys and counts apart, and hold what they are filled with", () => {
    const limits = createFakeRateLimits({ limits: LIMITS });
    limits.refuse({ name: "sendMessage", key: "ann" }, Date.now() + 5000);
    expect(limits.status({ name: "sendMessage", key: "ann" }, 1)?.ok).toBe(false);
    expect(limits.status(item, 1)?.ok).toBe(true);
    limits.fill("sendMessage", 2);
    expect(limits.left(item)).toBe(2);
    expect(limits.status(item, 2)?.ok).toBe(true);
    expect(limits.status(item, 3)).toEqual({ ok: false, retryAt: Date.now() + 6000 });
    limits.fill("sendMessage");
    expect(limits.left(item)).toBe(3);
    limits.refuse("sendMessage", Date.now() + 5000, 2);
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

  it("go by the clock that they are given", () => {
    const clock = createManualClock();
    const limits = createFakeRateLimits({ clock });
    limits.refuse("sendMessage", clock() + 5000);
    clock.advance(5000);
    expect(limits.status(item, 1)).toEqual({ ok: true });
  });

  it("only refuse in the future", () => {
    const limits = createFakeRateLimits();
    expect(() => limits.refuse("sendMessage", Date.now())).toThrow(/retryAt must be after/);
    expect(() => limits.refuse("sendMessage", NaN)).toThrow(/got NaN/);
  });
});
