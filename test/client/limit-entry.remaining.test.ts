import { describe, expect, it, vi } from "vitest";
import { DAY, HOUR, SECOND } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { soon } from "../support/soon.js";

const wants = () => true;
const LIMITS = {
  /** Whole tokens of ten a second. */
  quick: { kind: "token bucket", rate: 10, period: SECOND, capacity: 20 },
  busy: { kind: "token bucket", rate: 1, period: HOUR, capacity: 1000 },
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  sharded: { kind: "token bucket", rate: 10, period: SECOND, capacity: 20, shards: 4 },
  slow: { kind: "token bucket", rate: 1, period: 100 * DAY },
} as const;

describe.concurrent("what remains of an observed limit", () => {
  it("follows refills up to the capacity, at most once a second, without asking", async () => {
    const [item, other] = [{ name: "quick" }, { name: "quick", key: "other" }];
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    const changes: { left: number; at: number }[] = [];
    const onChange = () => changes.push({ left: observer.remaining(item)!, at: Date.now() });
    observer.observe(item, 1, onChange, wants);
    // The other limits change every 100 ms.
    for (let count = 1; count <= 20; count++) observer.observe(other, count, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.remaining(item)).toBe(20));
    await app.limiter.limit("quick", { count: 30, reserve: true });
    await app.limiter.limit("quick", { key: "other", count: 20 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    await soon(() => expect(observer.status(other, 20)?.ok).toBe(false));
    const refills = changes.length;
    await soon(() => expect(observer.remaining(item)).toBe(20));
    // A query for either limit, and the stream.
    expect(app.server.requests()).toBe(3);

    const lefts = changes.slice(refills).map(({ left }) => left);
    expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
    // The first of them is the status that turns ok; then one a second.
    const ticks = changes.slice(refills).filter(({ left }) => left > 1);
    expect(ticks.length).toBeGreaterThan(1);
    for (const [i, { at }] of ticks.slice(1).entries()) {
      expect(at - ticks[i]!.at).toBeGreaterThanOrEqual(990);
    }
  });

  it("changes together with a status that turns ok, however soon after the last change", async () => {
    const item = { name: "quick" };
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    const seen: { ok: boolean; left: number }[] = [];
    const onChange = () => {
      const status = observer.status(item, 1);
      if (status) seen.push({ ok: status.ok, left: observer.remaining(item)! });
    };
    observer.observe(item, 1, onChange, wants);
    await soon(() => expect(observer.connection).toBe("live"));
    await app.limiter.limit("quick", { count: 25, reserve: true });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(true));
    // No watcher is notified of an ok status with 0 remaining tokens.
    expect(seen.filter(({ ok, left }) => ok === (left === 0))).toEqual([]);
  });

  it("follows refills while another limit is busy", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    const onChange = vi.fn();
    observer.observe({ name: "quick" }, 20, onChange, wants);
    observer.observe({ name: "busy" }, 1, () => {}, wants);
    await soon(() => expect(observer.connection).toBe("live"));
    await app.limiter.limit("quick", { count: 30, reserve: true });
    await soon(() => expect(observer.remaining({ name: "quick" })).toBe(0));
    const working = setInterval(() => void app.limiter.limit("busy"), 100);
    try {
      onChange.mockClear();
      await soon(() => expect(onChange).toHaveBeenCalled());
      // Not only at the end, when the status for all twenty tokens turns ok.
      expect(observer.remaining({ name: "quick" })).toBeLessThan(20);
      expect(observer.remaining({ name: "quick" })).toBeGreaterThan(0);
    } finally {
      clearInterval(working);
    }
  });

  it("follows refills of a limit with more shards than one call sees", async () => {
    const item = { name: "sharded" };
    // The server is not asked again, so the observer computes the refill alone.
    await using app = await startLimitServer(LIMITS, { interval: 60_000 });
    const observer = app.observer();
    observer.observe(item, 1, () => {}, wants);
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.remaining(item)).toBe(20));
    await app.limiter.limit("sharded", { count: 8 });
    await soon(() => expect(observer.remaining(item)).toBeLessThan(20));
    await soon(() => expect(observer.remaining(item)).toBe(20));
  });

  it("is up to date for a watcher that starts to read it late", async () => {
    const item = { name: "quick" };
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    let looking = false;
    const onChange = vi.fn();
    observer.observe(item, 1, onChange, () => looking);
    await soon(() => expect(observer.connection).toBe("live"));
    await app.limiter.limit("quick", { count: 30, reserve: true });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(true));
    looking = true;
    observer.remaining(item);
    onChange.mockClear();
    await soon(() => expect(observer.remaining(item)).toBeGreaterThan(5));
    expect(onChange).toHaveBeenCalled();
  });

  it("notifies only the watchers that want it", async () => {
    const item = { name: "hourly" };
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    const [reader, other] = [vi.fn(), vi.fn()];
    observer.observe(item, 1, reader, wants);
    observer.observe(item, 1, other);
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.remaining(item)).toBe(3));
    reader.mockClear();
    other.mockClear();
    await app.limiter.limit("hourly");
    await soon(() => expect(observer.remaining(item)).toBe(2));
    expect(reader).toHaveBeenCalledTimes(1);
    expect(other).not.toHaveBeenCalled();
    await app.limiter.limit("hourly", { count: 2 });
    await soon(() => expect(observer.remaining(item)).toBe(0));
    expect(other).toHaveBeenCalledTimes(1);
  });

  it("is 0 while the limit is in debt", async () => {
    const item = { name: "hourly" };
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer();
    observer.observe(item, 1, () => {});
    await app.limiter.limit("hourly", { count: 5, reserve: true });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(observer.remaining(item)).toBe(0);
    expect(observer.check(item, Date.now(), 0)?.value).toBeLessThan(-1);
  });
});

describe.concurrent("the observer's timer", () => {
  it("sleeps through a wait that is longer than a timer can be", async () => {
    const item = { name: "slow" };
    await using app = await startLimitServer(LIMITS);
    let looks = 0;
    const clock = () => {
      looks++;
      return Date.now();
    };
    await app.limiter.limit("slow");
    const observer = app.observer({ clock });
    observer.observe(item, 1, () => {}, wants);
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(observer.status(item, 1)!.retryAt! - Date.now()).toBeGreaterThan(2 ** 31);
    // Whatever is still in flight reads the clock for a moment only.
    await soon(() => expect(app.server.open("rateLimit.status")).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 100));
    looks = 0;
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Two clocks are read, once a second.
    expect(looks).toBeLessThanOrEqual(4);
  });

  it("stops when there is no watcher any more", async () => {
    await using app = await startLimitServer(LIMITS);
    let looks = 0;
    const clock = () => {
      looks++;
      return Date.now();
    };
    const observer = app.observer({ clock });
    const item = { name: "quick" };
    const stop = observer.observe(item, 20, () => {}, wants);
    await soon(() => expect(observer.connection).toBe("live"));
    await app.limiter.limit("quick", { count: 20 });
    await soon(() => expect(observer.status(item, 20)?.ok).toBe(false));
    stop();
    await soon(() => expect(app.server.open("rateLimit.watch")).toBe(0));
    looks = 0;
    // By now the watcher would have been notified of a refill.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(looks).toBe(0);
    expect(observer.status(item, 20)).toBeUndefined();
  });
});
