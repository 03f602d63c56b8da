import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HOUR } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { soon } from "../support/soon.js";

const CONFIG = { kind: "token bucket", rate: 3, period: HOUR } as const;
const WATCH = "rateLimit.watch";

function manyLimits(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`limit${i}`, CONFIG]));
}

describe("the stream of an observer", () => {
  it("is one for all limits that are observed in one tick", async () => {
    const limits = manyLimits(40);
    await using app = await startLimitServer(limits);
    const observer = app.observer();
    for (const name of Object.keys(limits)) observer.observe({ name }, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    for (const name of Object.keys(limits)) {
      await soon(() => expect(observer.status({ name }, 1)).toEqual({ ok: true }));
    }
    expect(app.server.requests(WATCH)).toBe(1);
    expect(app.server.open(WATCH)).toBe(1);
    // Changes of the first and of the last arrive on it.
    await app.limiter.limit("limit0", { count: 3 });
    await app.limiter.limit("limit39", { count: 3 });
    await soon(() => expect(observer.status({ name: "limit0" }, 1)?.ok).toBe(false));
    await soon(() => expect(observer.status({ name: "limit39" }, 1)?.ok).toBe(false));
    expect(observer.status({ name: "limit1" }, 1)?.ok).toBe(true);
    expect(app.server.requests(WATCH)).toBe(1);
  });

  it("stays open when a limit is observed a second time", async () => {
    await using app = await startLimitServer(manyLimits(2));
    const observer = app.observer();
    const item = { name: "limit0" };
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    observer.observe(item, 2, () => {});
    stop();
    expect(observer.status(item, 2)).toEqual({ ok: true });
    await app.limiter.limit("limit0", { count: 2 });
    await soon(() => expect(observer.status(item, 2)?.ok).toBe(false));
    // The one query and the one stream of the first time.
    expect(app.server.requests()).toBe(2);
    expect(app.server.open(WATCH)).toBe(1);
  });

  it("is replaced by one stream when more limits are observed", async () => {
    await using app = await startLimitServer(manyLimits(2));
    const observer = app.observer();
    observer.observe({ name: "limit0" }, 1, () => {});
    await soon(() => expect(observer.status({ name: "limit0" }, 1)).toBeDefined());
    await soon(() => expect(observer.connection).toBe("live"));
    observer.observe({ name: "limit1" }, 1, () => {});
    await soon(() => expect(app.server.requests(WATCH)).toBe(2));
    await soon(() => expect(app.server.open(WATCH)).toBe(1));
    expect(observer.connection).toBe("live");
    for (const name of ["limit0", "limit1"]) {
      await app.limiter.limit(name, { count: 3 });
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(false));
    }
  });

  it("is not opened again and again where the server has enough of them", async () => {
    await using app = await startLimitServer(manyLimits(1), { maxStreams: 1 });
    const item = { name: "limit0", key: "ada" };
    const first = app.observer();
    const stop = first.observe(item, 1, () => {});
    await soon(() => expect(first.connection).toBe("live"));
    const second = app.observer({ pollInterval: 50 });
    second.observe(item, 1, () => {});
    await soon(() => expect(second.connection).toBe("polling"));
    await soon(() => expect(second.status(item, 1)).toEqual({ ok: true }));
    await app.limiter.limit("limit0", { key: "ada", count: 3 });
    await soon(() => expect(second.status(item, 1)?.ok).toBe(false));
    // Polls come twenty times a second, and tries of a stream after a pause of half a second.
    const before = app.server.requests("rateLimit.status");
    await soon(() => {
      expect(app.server.requests("rateLimit.status") - before).toBeGreaterThan(3);
    });
    expect(app.server.requests(WATCH)).toBeLessThanOrEqual(3);
    expect(first.connection).toBe("live");
    // It follows live as soon as there is room.
    stop();
    await soon(() => expect(second.connection).toBe("live"));
  });

  it("is split at the server's maximum of a hundred limits", async () => {
    const limits = manyLimits(150);
    await using app = await startLimitServer(limits);
    const observer = app.observer();
    for (const name of Object.keys(limits)) observer.observe({ name }, 1, () => {});
    await soon(() => expect(app.server.open(WATCH)).toBe(2));
    await soon(() => expect(observer.connection).toBe("live"));
    await app.limiter.limit("limit149", { count: 3 });
    await soon(() => expect(observer.status({ name: "limit149" }, 1)?.ok).toBe(false));
    expect(app.server.requests(WATCH)).toBe(2);
  });

  it("is split where keys are too long for one URL, and so are the queries", async () => {
    await using app = await startLimitServer(manyLimits(1));
    const items = Array.from({ length: 80 }, (_, i) => ({
      name: "limit0",
      key: `${i}`.padEnd(191, "é"),
    }));
    for (const stream of [true, false]) {
      const observer = app.observer({ stream, pollInterval: 60_000 });
      for (const item of items) observer.observe(item, 1, () => {});
      await soon(() => {
        for (const item of items) expect(observer.status(item, 1)).toBeDefined();
      });
      await soon(() => expect(observer.connection).toBe(stream ? "live" : "polling"));
    }
  });

  it("does not count as live until the limit that the server refuses is left out", async () => {
    const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warning.mockRestore());
    await using app = await startLimitServer(manyLimits(101));
    const observer = app.observer({ pollInterval: 50 });
    const items = Object.keys(app.limiter.limits).map((name) => ({ name }));
    const states = new Set<string>();
    for (const item of items) observer.observe(item, 1, () => states.add(observer.connection));
    observer.observe({ name: "limit0", key: "secret" }, 1, () => {});
    await soon(() => expect(app.server.requests(WATCH)).toBe(2));
    for (const item of items) await soon(() => expect(observer.status(item, 1)?.ok).toBe(true));
    // The last one was in one stream with the refused one.
    for (const name of ["limit0", "limit100"]) {
      await app.limiter.limit(name, { count: 3 });
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(false));
    }
    await soon(() => expect(observer.connection).toBe("live"));
    expect([...states]).toEqual(["polling", "live"]);
    expect(app.server.open(WATCH)).toBe(2);
    expect(observer.status({ name: "limit0", key: "secret" }, 1)).toBeUndefined();
    const told = 'The server refuses to tell about rate limit "limit0":';
    expect(warning.mock.calls).toEqual([[told, expect.any(Error)]]);
  });

  it("is closed once nothing is observed any more, and opened again when something is", async () => {
    const limits = manyLimits(3);
    await using app = await startLimitServer(limits);
    const observer = app.observer();
    const observeAll = () =>
      Object.keys(limits).map((name) => observer.observe({ name }, 1, () => {}));
    const stops = observeAll();
    await soon(() => expect(observer.connection).toBe("live"));
    stops.pop()!();
    await soon(() => expect(app.server.requests(WATCH)).toBe(2));
    await soon(() => expect(app.server.open(WATCH)).toBe(1));
    for (const stop of stops) stop();
    await soon(() => expect(app.server.open(WATCH)).toBe(0));
    expect(observer.status({ name: "limit0" }, 1)).toBeUndefined();

    await app.limiter.limit("limit0", { count: 3 });
    observeAll();
    await soon(() => expect(observer.status({ name: "limit0" }, 1)?.ok).toBe(false));
    await soon(() => expect(app.server.open(WATCH)).toBe(1));
  });

  it("stays open when a limit is dropped and observed again in one tick", async () => {
    await using app = await startLimitServer(manyLimits(1));
    const observer = app.observer();
    const item = { name: "limit0" };
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    stop();
    observer.observe(item, 1, () => {});
    expect(observer.status(item, 1)).toEqual({ ok: true });
    await app.limiter.limit("limit0", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(app.server.requests(WATCH)).toBe(1);
  });

  it("is closed with the observer, which notifies no watcher from then on", async () => {
    await using app = await startLimitServer(manyLimits(1));
    const observer = app.observer();
    const onChange = vi.fn();
    observer.observe({ name: "limit0" }, 1, onChange);
    await soon(() => expect(observer.connection).toBe("live"));
    observer.close();
    onChange.mockClear();
    await soon(() => expect(app.server.open(WATCH)).toBe(0));
    await app.limiter.limit("limit0", { count: 3 });
    expect(observer.status({ name: "limit0" }, 1)).toBeUndefined();
    expect(onChange).not.toHaveBeenCalled();
  });
});
