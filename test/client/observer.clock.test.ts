import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, MINUTE } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { settled, soon } from "../support/soon.js";

const item = { name: "hourly" };
const LIMITS = { hourly: { kind: "token bucket", rate: 2, period: HOUR } } as const;
const STATUS = "rateLimit.status";

/** A limit that is available in half an hour, and a watcher that waits for it. */
async function startWaiting() {
  const [server, wall, monotonic] = [
    createManualClock(),
    createManualClock(),
    createManualClock(0),
  ];
  const app = await startLimitServer(LIMITS, { clock: server });
  await app.limiter.limit("hourly", { count: 2 });
  const observer = app.observer({ clock: wall, monotonic, stream: false, pollInterval: HOUR });
  const seen: (boolean | undefined)[] = [];
  observer.observe(item, 1, () => seen.push(observer.status(item, 1)?.ok));
  await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
  await settled(() => app.server.requests());
  seen.length = 0;
  return {
    server: app.server,
    limiter: app.limiter,
    observer,
    seen,
    wall,
    retryAt: () => observer.status(item, 1)?.retryAt,
    /** Advances these clocks only. */
    pass(ms: number, ...clocks: ("server" | "wall" | "monotonic")[]) {
      for (const clock of clocks) ({ server, wall, monotonic })[clock].advance(ms);
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe.concurrent("when this machine's clock is set during a wait", () => {
  it.each([
    ["forward", HOUR],
    ["back", -HOUR],
  ])("%s by an hour, the wait stays as long as it was", async (_, step) => {
    await using page = await startWaiting();
    const release = page.server.delay(STATUS);
    page.pass(step, "wall");
    // At once, and without an answer.
    expect(page.retryAt()).toBe(page.wall() + 30 * MINUTE);
    expect(page.observer.check(item, page.wall(), 1)?.retryAt).toBe(page.wall() + 30 * MINUTE);
    await soon(() => expect(page.seen).toEqual([false]));
    release();
    await soon(() => expect(page.server.open(STATUS)).toBe(0));
    expect(page.retryAt()).toBe(page.wall() + 30 * MINUTE);
    page.pass(30 * MINUTE - 1, "server", "wall", "monotonic");
    expect(page.observer.status(item, 1)?.ok).toBe(false);
    page.pass(1, "server", "wall", "monotonic");
    expect(page.observer.status(item, 1)?.ok).toBe(true);
    await soon(() => expect(page.seen.at(-1)).toBe(true));
  });

  it("notices it without being asked", async () => {
    await using page = await startWaiting();
    page.pass(-HOUR, "wall");
    await soon(() => expect(page.seen).toEqual([false]));
    expect(page.retryAt()).toBe(page.wall() + 30 * MINUTE);
  });

  it("ignores a clock that is slewed", async () => {
    await using page = await startWaiting();
    const requests = page.server.requests(STATUS);
    const before = page.retryAt();
    page.pass(200, "wall");
    expect(page.retryAt()).toBe(before);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(page.server.requests(STATUS)).toBe(requests);
    expect(page.seen).toEqual([]);
  });
});

describe.concurrent("when this machine slept for an hour", () => {
  it("knows at once that the wait is over, if its monotonic clock went on", async () => {
    await using page = await startWaiting();
    const release = page.server.delay(STATUS);
    page.pass(HOUR, "server", "wall", "monotonic");
    expect(page.observer.status(item, 1)?.ok).toBe(true);
    // All watchers are notified, and the server is asked what other callers did meanwhile.
    await soon(() => expect(page.seen).toEqual([true]));
    await soon(() => expect(page.server.open(STATUS)).toBe(1));
    release();
  });

  it("asks, if its monotonic clock slept as well, and stays denied until the answer", async () => {
    await using page = await startWaiting();
    const release = page.server.delay(STATUS);
    page.pass(HOUR, "server", "wall");
    await soon(() => expect(page.server.open(STATUS)).toBe(1));
    expect(page.seen).not.toContain(true);
    release();
    await soon(() => expect(page.observer.status(item, 1)?.ok).toBe(true));
    await soon(() => expect(page.seen.at(-1)).toBe(true));
  });

  it("does not measure the clock by an answer that arrived during the sleep", async () => {
    await using page = await startWaiting();
    const release = page.server.delay(STATUS);
    page.observer.refresh();
    await soon(() => expect(page.server.open(STATUS)).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    page.pass(20 * MINUTE, "server", "wall");
    release();
    await soon(() => expect(page.server.open(STATUS)).toBe(0));
    await soon(() => expect(page.retryAt()).toBe(page.wall() + 10 * MINUTE));
  });
});

describe.concurrent("refresh", () => {
  it("notifies at once of what a late timer would have noticed", async () => {
    await using page = await startWaiting();
    page.pass(HOUR, "server", "wall", "monotonic");
    page.observer.refresh();
    expect(page.seen).toEqual([true]);
  });

  it("reopens a lost stream without further pause", async () => {
    await using app = await startLimitServer(LIMITS);
    const admit = app.server.block("rateLimit.watch");
    const observer = app.observer({ pollInterval: 60_000 });
    observer.observe(item, 1, () => {});
    // Half a second at least until the next attempt, and a second until the one after that.
    await soon(() => expect(app.server.requests("rateLimit.watch")).toBe(2));
    await soon(() => expect(app.server.open("rateLimit.watch")).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 50));
    admit();
    const asked = performance.now();
    observer.refresh();
    await soon(() => expect(observer.connection).toBe("live"));
    expect(performance.now() - asked).toBeLessThan(800);
  });
});

describe.concurrent("an answer that takes two seconds", () => {
  it("measures the clock to within a second, and a quick one after it to some ms", async () => {
    const skew = -HOUR;
    await using app = await startLimitServer(LIMITS, { clock: () => Date.now() + skew });
    await app.limiter.limit("hourly", { count: 2 });
    const expectedAt = Date.now() + 30 * MINUTE;
    const release = app.server.delay(STATUS);
    const observer = app.observer({ stream: false, pollInterval: 60_000 });
    const instants: number[] = [];
    observer.observe(item, 1, () => instants.push(observer.status(item, 1)?.retryAt ?? 0));
    await new Promise((resolve) => setTimeout(resolve, 2000));
    release();
    await soon(() => expect(instants.length).toBeGreaterThan(0));
    // The server read the limit at once, and the answer took two seconds; half of that is the best guess.
    expect(Math.abs(instants[0]! - expectedAt)).toBeGreaterThan(700);
    expect(Math.abs(instants[0]! - expectedAt)).toBeLessThan(1300);
    observer.refresh();
    await soon(() => {
      expect(Math.abs(observer.status(item, 1)!.retryAt! - expectedAt)).toBeLessThan(100);
    });
  });
});
