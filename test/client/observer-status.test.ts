import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, SECOND } from "../../server/index.js";
import { startMirror } from "../support/mirror.js";
import { soon } from "../support/soon.js";

const hourly = { name: "hourly" };
const quick = { name: "quick" };
const LIMITS = {
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  quick: { kind: "token bucket", rate: 10, period: SECOND, capacity: 10 },
} as const;

describe.concurrent("the status of an observed limit", () => {
  it("is undefined until the server has spoken", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer();
    expect(observer.status(hourly, 1)).toBeUndefined();
    observer.observe(hourly, 1, () => {});
    expect(observer.status(hourly, 1)).toBeUndefined();
    expect(observer.check(hourly, Date.now(), 1)).toBeUndefined();
    expect(observer.config(hourly)).toBeUndefined();
    await soon(() => expect(observer.status(hourly, 1)).toEqual({ ok: true }));
    expect(observer.config(hourly)).toEqual(LIMITS.hourly);
  });

  it("tells the very ms at which a call would pass, in step with the server", async () => {
    const clock = createManualClock();
    await using mirror = await startMirror(LIMITS, { clock });
    const observer = mirror.observer({ clock });
    observer.observe(hourly, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await mirror.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(hourly, 1)?.ok).toBe(false));
    expect(observer.status(hourly, 1)).toEqual({ ok: false, retryAt: clock() + HOUR });
    const { retryAfter } = await mirror.limiter.check("hourly");
    expect(retryAfter).toBe(HOUR);
    expect(observer.check(hourly, clock() + HOUR - 1, 1)?.retryAt).toBe(clock() + HOUR);
    expect(observer.check(hourly, clock() + HOUR, 1)?.retryAt).toBeUndefined();
  });

  it("is the same object until the answer changes", async () => {
    const clock = createManualClock();
    await using mirror = await startMirror(LIMITS, { clock });
    const observer = mirror.observer({ clock });
    const onChange = vi.fn();
    observer.observe(hourly, 1, onChange);
    await soon(() => expect(observer.status(hourly, 1)).toBeDefined());
    await soon(() => expect(observer.connection).toBe("live"));
    const granted = observer.status(hourly, 1);
    const config = observer.config(hourly);
    onChange.mockClear();

    await mirror.limiter.limit("hourly", { count: 2 });
    await soon(() => expect(observer.left(hourly)).toBe(1));
    expect(observer.status(hourly, 1)).toBe(granted);
    expect(onChange).not.toHaveBeenCalled();

    await mirror.limiter.limit("hourly");
    await soon(() => expect(observer.status(hourly, 1)).not.toBe(granted));
    expect(onChange).toHaveBeenCalledTimes(1);
    expect(observer.config(hourly)).toBe(config);
    const denied = observer.status(hourly, 1);
    const asked = mirror.server.requests("rateLimit.status");
    observer.refresh();
    clock.advance(1000);
    await soon(() => expect(mirror.server.requests("rateLimit.status")).toBe(asked + 1));
    await soon(() => expect(mirror.server.open("rateLimit.status")).toBe(0));
    expect(observer.status(hourly, 1)).toBe(denied);
    expect(onChange).toHaveBeenCalledTimes(1);
  });

  it("is the same object by a clock that counts parts of a ms, too", async () => {
    const clock = createManualClock();
    await using mirror = await startMirror(LIMITS, { clock });
    await mirror.limiter.limit("hourly", { count: 3 });
    let part = 0;
    const observer = mirror.observer({ clock: () => clock() + part });
    observer.observe(hourly, 1, () => {});
    await soon(() => expect(observer.status(hourly, 1)?.ok).toBe(false));
    const denied = observer.status(hourly, 1);
    for (part of [0.25, 0.5, 0.999]) expect(observer.status(hourly, 1)).toBe(denied);
  });

  it("turns ok at the promised ms, without asking", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer();
    const flips: { ok: boolean | undefined; at: number }[] = [];
    observer.observe(quick, 10, () => {
      flips.push({ ok: observer.status(quick, 10)?.ok, at: Date.now() });
    });
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
    flips.length = 0;
    await mirror.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(false));
    const { retryAt } = observer.status(quick, 10)!;
    await soon(() => expect(flips.map(({ ok }) => ok)).toEqual([false, true]));
    expect(flips[1]!.at).toBeGreaterThanOrEqual(retryAt!);
    // The one query and the one stream of the beginning.
    expect(mirror.server.requests()).toBe(2);
  });

  it("does not turn ok a ms early, whatever its timer thinks", async () => {
    const clock = createManualClock();
    await using mirror = await startMirror(LIMITS, { clock });
    const observer = mirror.observer({ clock });
    observer.observe(quick, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await mirror.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 1)?.ok).toBe(false));
    clock.advance(99);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(observer.status(quick, 1)?.ok).toBe(false);
    clock.advance(1);
    await soon(() => expect(observer.status(quick, 1)?.ok).toBe(true));
  });

  it("says never for a count above the capacity", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer();
    observer.observe(hourly, 4, () => {});
    observer.observe(hourly, 3, () => {});
    await soon(() => {
      expect(observer.status(hourly, 4)).toEqual({ ok: false, retryAt: Infinity });
    });
    expect(observer.status(hourly, 3)).toEqual({ ok: true });
    expect(observer.check(hourly, Date.now(), 4)?.retryAt).toBe(Infinity);
  });

  it("is right for a count that nobody observes", async () => {
    const clock = createManualClock();
    await using mirror = await startMirror(LIMITS, { clock });
    const observer = mirror.observer({ clock });
    observer.observe(hourly, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(hourly, 2)).toEqual({ ok: true }));
    await mirror.limiter.limit("hourly", { count: 2 });
    const retryAt = clock() + HOUR;
    await soon(() => expect(observer.status(hourly, 2)).toEqual({ ok: false, retryAt }));
    expect(observer.status(hourly, 2)).toBe(observer.status(hourly, 2));
    expect(observer.status(hourly, 1)).toEqual({ ok: true });
  });

  it("turns ok in time for a count that nobody observes", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer();
    observer.observe(quick, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(quick, 10)).toEqual({ ok: true }));
    await mirror.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(false));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
  });

  it("refuses a count that is none, and goes on for everybody else", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer();
    observer.observe(hourly, 1, () => {});
    for (const count of [-1, NaN, Infinity]) {
      expect(() => observer.observe(hourly, count, () => {})).toThrow(/count must be/);
      expect(() => observer.status(hourly, count)).toThrow(/count must be/);
    }
    await soon(() => expect(observer.connection).toBe("live"));
    await mirror.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(hourly, 1)?.ok).toBe(false));
  });

  it("is told apart by key", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer();
    const [ann, bob] = [
      { name: "hourly", key: "ann" },
      { name: "hourly", key: "bob" },
    ];
    for (const item of [ann, bob, hourly]) observer.observe(item, 1, () => {});
    await soon(() => expect(observer.left(bob)).toBe(3));
    await mirror.limiter.limit("hourly", { key: "ann", count: 3 });
    await soon(() => expect(observer.status(ann, 1)?.ok).toBe(false));
    expect(observer.status(bob, 1)?.ok).toBe(true);
    expect(observer.status(hourly, 1)?.ok).toBe(true);
  });
});
