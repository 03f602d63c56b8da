import { describe, expect, it, vi } from "vitest";
import { HOUR } from "../../server/index.js";
import { startMirror } from "../support/mirror.js";
import { soon } from "../support/soon.js";

const CONFIG = { kind: "token bucket", rate: 3, period: HOUR } as const;
const WATCH = "rateLimit.watch";

function manyLimits(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`limit${i}`, CONFIG]));
}

describe("the stream of an observer", () => {
  it("is one for all that is observed in one go", async () => {
    const limits = manyLimits(40);
    await using mirror = await startMirror(limits);
    const observer = mirror.observer();
    for (const name of Object.keys(limits)) observer.observe({ name }, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    for (const name of Object.keys(limits)) {
      await soon(() => expect(observer.status({ name }, 1)).toEqual({ ok: true }));
    }
    expect(mirror.server.requests(WATCH)).toBe(1);
    expect(mirror.server.open(WATCH)).toBe(1);
    // Changes of the first and of the last arrive on it.
    await mirror.limiter.limit("limit0", { count: 3 });
    await mirror.limiter.limit("limit39", { count: 3 });
    await soon(() => expect(observer.status({ name: "limit0" }, 1)?.ok).toBe(false));
    await soon(() => expect(observer.status({ name: "limit39" }, 1)?.ok).toBe(false));
    expect(observer.status({ name: "limit1" }, 1)?.ok).toBe(true);
    expect(mirror.server.requests(WATCH)).toBe(1);
  });

  it("stays as it is when a limit is observed a second time", async () => {
    await using mirror = await startMirror(manyLimits(2));
    const observer = mirror.observer();
    const item = { name: "limit0" };
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    observer.observe(item, 2, () => {});
    stop();
    expect(observer.status(item, 2)).toEqual({ ok: true });
    await mirror.limiter.limit("limit0", { count: 2 });
    await soon(() => expect(observer.status(item, 2)?.ok).toBe(false));
    // The one query and the one stream of the first time.
    expect(mirror.server.requests()).toBe(2);
    expect(mirror.server.open(WATCH)).toBe(1);
  });

  it("is replaced when more is observed, so that there is one again", async () => {
    await using mirror = await startMirror(manyLimits(2));
    const observer = mirror.observer();
    observer.observe({ name: "limit0" }, 1, () => {});
    await soon(() => expect(observer.status({ name: "limit0" }, 1)).toBeDefined());
    await soon(() => expect(observer.connection).toBe("live"));
    observer.observe({ name: "limit1" }, 1, () => {});
    await soon(() => expect(mirror.server.requests(WATCH)).toBe(2));
    await soon(() => expect(mirror.server.open(WATCH)).toBe(1));
    expect(observer.connection).toBe("live");
    for (const name of ["limit0", "limit1"]) {
      await mirror.limiter.limit(name, { count: 3 });
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(false));
    }
  });

  it("is split where the server takes no more than a hundred limits", async () => {
    const limits = manyLimits(150);
    await using mirror = await startMirror(limits);
    const observer = mirror.observer();
    for (const name of Object.keys(limits)) observer.observe({ name }, 1, () => {});
    await soon(() => expect(mirror.server.open(WATCH)).toBe(2));
    await soon(() => expect(observer.connection).toBe("live"));
    await mirror.limiter.limit("limit149", { count: 3 });
    await soon(() => expect(observer.status({ name: "limit149" }, 1)?.ok).toBe(false));
    expect(mirror.server.requests(WATCH)).toBe(2);
  });

  it("is split where keys are too long for one URL, and so are the queries", async () => {
    await using mirror = await startMirror(manyLimits(1));
    const items = Array.from({ length: 80 }, (_, i) => ({
      name: "limit0",
      key: `${i}`.padEnd(191, "é"),
    }));
    for (const stream of [true, false]) {
      const observer = mirror.observer({ stream, pollInterval: 60_000 });
      for (const item of items) observer.observe(item, 1, () => {});
      await soon(() => {
        for (const item of items) expect(observer.status(item, 1)).toBeDefined();
      });
      await soon(() => expect(observer.connection).toBe(stream ? "live" : "polling"));
    }
  });

  it("is not taken for live while a part of it is refused", async () => {
    await using mirror = await startMirror(manyLimits(101));
    const observer = mirror.observer({ pollInterval: 50 });
    const items = Object.keys(mirror.limiter.limits).map((name) => ({ name }));
    const states = new Set<string>();
    for (const item of items) observer.observe(item, 1, () => states.add(observer.connection));
    observer.observe({ name: "limit0", key: "secret" }, 1, () => {});
    await soon(() => expect(mirror.server.requests(WATCH)).toBe(2));
    for (const item of items) await soon(() => expect(observer.status(item, 1)?.ok).toBe(true));
    // The first hundred have a stream, the last one is asked for beside the one that is secret.
    for (const name of ["limit0", "limit100"]) {
      await mirror.limiter.limit(name, { count: 3 });
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(false));
    }
    expect([...states]).toEqual(["polling"]);
    expect(observer.status({ name: "limit0", key: "secret" }, 1)).toBeUndefined();
  });

  it("is closed once nothing is observed any more, and opened again when something is", async () => {
    const limits = manyLimits(3);
    await using mirror = await startMirror(limits);
    const observer = mirror.observer();
    const observeAll = () =>
      Object.keys(limits).map((name) => observer.observe({ name }, 1, () => {}));
    const stops = observeAll();
    await soon(() => expect(observer.connection).toBe("live"));
    stops.pop()!();
    await soon(() => expect(mirror.server.requests(WATCH)).toBe(2));
    await soon(() => expect(mirror.server.open(WATCH)).toBe(1));
    for (const stop of stops) stop();
    await soon(() => expect(mirror.server.open(WATCH)).toBe(0));
    expect(observer.status({ name: "limit0" }, 1)).toBeUndefined();

    await mirror.limiter.limit("limit0", { count: 3 });
    observeAll();
    await soon(() => expect(observer.status({ name: "limit0" }, 1)?.ok).toBe(false));
    await soon(() => expect(mirror.server.open(WATCH)).toBe(1));
  });

  it("stays open when something is let go and taken back in one tick", async () => {
    await using mirror = await startMirror(manyLimits(1));
    const observer = mirror.observer();
    const item = { name: "limit0" };
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    stop();
    observer.observe(item, 1, () => {});
    expect(observer.status(item, 1)).toEqual({ ok: true });
    await mirror.limiter.limit("limit0", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(mirror.server.requests(WATCH)).toBe(1);
  });

  it("is closed with the observer, which tells nobody anything from then on", async () => {
    await using mirror = await startMirror(manyLimits(1));
    const observer = mirror.observer();
    const onChange = vi.fn();
    observer.observe({ name: "limit0" }, 1, onChange);
    await soon(() => expect(observer.connection).toBe("live"));
    observer.close();
    onChange.mockClear();
    await soon(() => expect(mirror.server.open(WATCH)).toBe(0));
    await mirror.limiter.limit("limit0", { count: 3 });
    expect(observer.status({ name: "limit0" }, 1)).toBeUndefined();
    expect(onChange).not.toHaveBeenCalled();
  });
});
