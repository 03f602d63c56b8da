import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, MINUTE } from "../../server/index.js";
import { startMirror } from "../support/mirror.js";
import { settled, soon } from "../support/soon.js";

const item = { name: "hourly" };
const LIMITS = { hourly: { kind: "token bucket", rate: 2, period: HOUR } } as const;
const STATUS = "rateLimit.status";

/** A limit that opens in half an hour, and somebody who waits for it. */
async function startWaiting() {
  const [server, wall, monotonic] = [
    createManualClock(),
    createManualClock(),
    createManualClock(0),
  ];
  const mirror = await startMirror(LIMITS, { clock: server });
  await mirror.limiter.limit("hourly", { count: 2 });
  const observer = mirror.observer({ clock: wall, monotonic, stream: false, pollInterval: HOUR });
  const seen: (boolean | undefined)[] = [];
  observer.observe(item, 1, () => seen.push(observer.status(item, 1)?.ok));
  await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
  await settled(() => mirror.server.requests());
  seen.length = 0;
  return {
    server: mirror.server,
    limiter: mirror.limiter,
    observer,
    seen,
    wall,
    retryAt: () => observer.status(item, 1)?.retryAt,
    /** Time goes by for these clocks only. */
    pass(ms: number, ...clocks: ("server" | "wall" | "monotonic")[]) {
      for (const clock of clocks) ({ server, wall, monotonic })[clock].advance(ms);
    },
    [Symbol.asyncDispose]: () => mirror[Symbol.asyncDispose](),
  };
}

describe.concurrent("when this machine's clock is set while somebody waits", () => {
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

  it("notices, though nobody asks", async () => {
    await using page = await startWaiting();
    page.pass(-HOUR, "wall");
    await soon(() => expect(page.seen).toEqual([false]));
    expect(page.retryAt()).toBe(page.wall() + 30 * MINUTE);
  });

  it("does not make anything of a clock that is slewed", async () => {
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
    // Those who are not looking are told, too, and the server is asked what others did meanwhile.
    await soon(() => expect(page.seen).toEqual([true]));
    await soon(() => expect(page.server.open(STATUS)).toBe(1));
    release();
  });

  it("asks, if its monotonic clock slept as well, and does not say go before it knows", async () => {
    await using page = await startWaiting();
    const release = page.server.delay(STATUS);
    page.pass(HOUR, "server", "wall");
    await soon(() => expect(page.server.open(STATUS)).toBe(1));
    expect(page.seen).not.toContain(true);
    release();
    await soon(() => expect(page.observer.status(item, 1)?.ok).toBe(true));
    await soon(() => expect(page.seen.at(-1)).toBe(true));
  });

  it("does not take an answer that slept with it for a measurement", async () => {
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
  it("tells at once what a timer that is late would have told", async () => {
    await using page = await startWaiting();
    page.pass(HOUR, "server", "wall", "monotonic");
    page.observer.refresh();
    expect(page.seen).toEqual([true]);
  });

  it("opens a lost stream without waiting for its turn", async () => {
    await using mirror = await startMirror(LIMITS);
    const admit = mirror.server.refuse("rateLimit.watch");
    const observer = mirror.observer({ pollInterval: 60_000 });
    observer.observe(item, 1, () => {});
    // Half a second at least until the next attempt, and a second until the one after that.
    await soon(() => expect(mirror.server.requests("rateLimit.watch")).toBe(2));
    await soon(() => expect(mirror.server.open("rateLimit.watch")).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 50));
    admit();
    const asked = performance.now();
    observer.refresh();
    await soon(() => expect(observer.connection).toBe("live"));
    expect(performance.now() - asked).toBeLessThan(800);
  });
});

describe.concurrent("an answer that takes two seconds", () => {
  it("is worth a second, and a quick one after it some ms", async () => {
    const skew = -HOUR;
    await using mirror = await startMirror(LIMITS, { clock: () => Date.now() + skew });
    await mirror.limiter.limit("hourly", { count: 2 });
    const truth = Date.now() + 30 * MINUTE;
    const release = mirror.server.delay(STATUS);
    const observer = mirror.observer({ stream: false, pollInterval: 60_000 });
    const told: number[] = [];
    observer.observe(item, 1, () => told.push(observer.status(item, 1)?.retryAt ?? 0));
    await new Promise((resolve) => setTimeout(resolve, 2000));
    release();
    await soon(() => expect(told.length).toBeGreaterThan(0));
    // The answer came at once and took two seconds to arrive; half of that is as good a guess as any.
    expect(Math.abs(told[0]! - truth)).toBeGreaterThan(700);
    expect(Math.abs(told[0]! - truth)).toBeLessThan(1300);
    observer.refresh();
    await soon(() => {
      expect(Math.abs(observer.status(item, 1)!.retryAt! - truth)).toBeLessThan(100);
    });
  });
});
