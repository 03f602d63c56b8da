import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, SECOND } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { soon } from "../support/soon.js";

const hourly = { name: "hourly" };
const quick = { name: "quick" };
const LIMITS = {
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  quick: { kind: "token bucket", rate: 10, period: SECOND, capacity: 10 },
} as const;

describe.concurrent("the status of an observed limit", () => {
  it("is undefined until the server has answered", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    expect(observer.status(hourly, 1)).toBeUndefined();
    observer.observe(hourly, 1, () => {});
    expect(observer.status(hourly, 1)).toBeUndefined();
    expect(observer.check(hourly, Date.now(), 1)).toBeUndefined();
    expect(observer.config(hourly)).toBeUndefined();
    await soon(() => expect(observer.status(hourly, 1)).toEqual({ ok: true }));
    expect(observer.config(hourly)).toEqual(LIMITS.hourly);
  });

  it("gives the very ms at which a call would pass, in step with the server", async () => {
    const clock = createManualClock();
    await using app = await startLimitServer(LIMITS, { clock });
    const observer = await app.live(hourly, { clock });
    await app.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(hourly, 1)?.ok).toBe(false));
    expect(observer.status(hourly, 1)).toEqual({ ok: false, retryAt: clock() + HOUR });
    const { retryAfter } = await app.limiter.check("hourly");
    expect(retryAfter).toBe(HOUR);
    expect(observer.check(hourly, clock() + HOUR - 1, 1)?.retryAt).toBe(clock() + HOUR);
    expect(observer.check(hourly, clock() + HOUR, 1)?.retryAt).toBeUndefined();
  });

  it("is the same object until the answer changes", async () => {
    const clock = createManualClock();
    await using app = await startLimitServer(LIMITS, { clock });
    const observer = app.observer({ clock });
    const onChange = vi.fn();
    observer.observe(hourly, 1, onChange);
    await soon(() => expect(observer.status(hourly, 1)).toBeDefined());
    await soon(() => expect(observer.connection).toBe("live"));
    const granted = observer.status(hourly, 1);
    const config = observer.config(hourly);
    onChange.mockClear();

    await app.limiter.limit("hourly", { count: 2 });
    await soon(() => expect(observer.remaining(hourly)).toBe(1));
    expect(observer.status(hourly, 1)).toBe(granted);
    expect(onChange).not.toHaveBeenCalled();

    await app.limiter.limit("hourly");
    await soon(() => expect(observer.status(hourly, 1)).not.toBe(granted));
    expect(onChange).toHaveBeenCalledTimes(1);
    expect(observer.config(hourly)).toBe(config);
    const denied = observer.status(hourly, 1);
    const asked = app.server.requests("rateLimit.status");
    observer.refresh();
    clock.advance(1000);
    await soon(() => expect(app.server.requests("rateLimit.status")).toBe(asked + 1));
    await soon(() => expect(app.server.open("rateLimit.status")).toBe(0));
    expect(observer.status(hourly, 1)).toBe(denied);
    expect(onChange).toHaveBeenCalledTimes(1);
  });

  it("is the same object by a clock that counts parts of a ms, too", async () => {
    const clock = createManualClock();
    await using app = await startLimitServer(LIMITS, { clock });
    await app.limiter.limit("hourly", { count: 3 });
    let part = 0;
    const observer = app.observer({ clock: () => clock() + part });
    observer.observe(hourly, 1, () => {});
    await soon(() => expect(observer.status(hourly, 1)?.ok).toBe(false));
    const denied = observer.status(hourly, 1);
    for (part of [0.25, 0.5, 0.999]) expect(observer.status(hourly, 1)).toBe(denied);
  });

  it("turns ok at the promised ms, without asking", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    const flips: { ok: boolean | undefined; at: number }[] = [];
    observer.observe(quick, 10, () => {
      flips.push({ ok: observer.status(quick, 10)?.ok, at: Date.now() });
    });
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
    flips.length = 0;
    await app.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(false));
    const { retryAt } = observer.status(quick, 10)!;
    await soon(() => expect(flips.map(({ ok }) => ok)).toEqual([false, true]));
    expect(flips[1]!.at).toBeGreaterThanOrEqual(retryAt!);
    // The one query and the one stream of the beginning.
    expect(app.server.requests()).toBe(2);
  });

  it("does not turn ok a ms early, even if its timer is early", async () => {
    const clock = createManualClock();
    await using app = await startLimitServer(LIMITS, { clock });
    const observer = await app.live(quick, { clock });
    await app.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 1)?.ok).toBe(false));
    clock.advance(99);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(observer.status(quick, 1)?.ok).toBe(false);
    clock.advance(1);
    await soon(() => expect(observer.status(quick, 1)?.ok).toBe(true));
  });

  it("is never ok for a count above the capacity", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    observer.observe(hourly, 4, () => {});
    observer.observe(hourly, 3, () => {});
    await soon(() => {
      expect(observer.status(hourly, 4)).toEqual({ ok: false, retryAt: Infinity });
    });
    expect(observer.status(hourly, 3)).toEqual({ ok: true });
    expect(observer.check(hourly, Date.now(), 4)?.retryAt).toBe(Infinity);
  });

  it("is right for a count that is not observed", async () => {
    const clock = createManualClock();
    await using app = await startLimitServer(LIMITS, { clock });
    const observer = await app.live(hourly, { clock });
    await soon(() => expect(observer.status(hourly, 2)).toEqual({ ok: true }));
    await app.limiter.limit("hourly", { count: 2 });
    const retryAt = clock() + HOUR;
    await soon(() => expect(observer.status(hourly, 2)).toEqual({ ok: false, retryAt }));
    expect(observer.status(hourly, 2)).toBe(observer.status(hourly, 2));
    expect(observer.status(hourly, 1)).toEqual({ ok: true });
  });

  it("turns ok in time for a count that is not observed", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = await app.live(quick);
    await soon(() => expect(observer.status(quick, 10)).toEqual({ ok: true }));
    await app.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(false));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
  });

  it("throws for an invalid count, and still notifies the other watchers", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    observer.observe(hourly, 1, () => {});
    for (const count of [-1, NaN, Infinity]) {
      expect(() => observer.observe(hourly, count, () => {})).toThrow(/count must be/);
      expect(() => observer.status(hourly, count)).toThrow(/count must be/);
    }
    await soon(() => expect(observer.connection).toBe("live"));
    await app.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(hourly, 1)?.ok).toBe(false));
  });

  it("differs by key", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    const [ann, bob] = [
      { name: "hourly", key: "ann" },
      { name: "hourly", key: "bob" },
    ];
    for (const item of [ann, bob, hourly]) observer.observe(item, 1, () => {});
    await soon(() => expect(observer.remaining(bob)).toBe(3));
    await app.limiter.limit("hourly", { key: "ann", count: 3 });
    await soon(() => expect(observer.status(ann, 1)?.ok).toBe(false));
    expect(observer.status(bob, 1)?.ok).toBe(true);
    expect(observer.status(hourly, 1)?.ok).toBe(true);
  });
});
