import { describe, expect, it } from "vitest";
import { HOUR } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { settled, soon } from "../support/soon.js";

const LIMITS = { hourly: { kind: "token bucket", rate: 3, period: HOUR } } as const;
const item = { name: "hourly" };
const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];

describe.concurrent("without a stream", () => {
  it("polls, when the client has no link for subscriptions", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ stream: false, pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    await soon(() => expect(app.server.requests(STATUS)).toBeGreaterThan(3));
    expect(observer.connection).toBe("polling");
    await app.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(app.server.requests(WATCH)).toBe(0);
  });

  it("polls, when the server rejects the stream", async () => {
    await using app = await startLimitServer(LIMITS);
    app.server.block(WATCH);
    const observer = app.observer({ pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    await app.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(observer.connection).toBe("polling");
  });

  it("goes live, and stops polling, when the server accepts the stream after all", async () => {
    await using app = await startLimitServer(LIMITS);
    const admit = app.server.block(WATCH);
    const observer = app.observer({ pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(app.server.requests(WATCH)).toBe(1));
    await soon(() => expect(app.server.requests(STATUS)).toBeGreaterThan(3));
    admit();
    await soon(() => expect(observer.connection).toBe("live"));
    await settled(() => app.server.requests(STATUS));
    const requests = app.server.requests(STATUS);
    await app.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(app.server.requests(STATUS)).toBe(requests);
  });

  it("polls at one pace, even if it was stopped and started in the middle of a poll", async () => {
    const pollInterval = 100;
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ stream: false, pollInterval });
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    const release = app.server.delay(STATUS);
    await soon(() => expect(app.server.open(STATUS)).toBeGreaterThan(0));
    stop();
    // The missing stream is dropped in the next tick.
    await new Promise((resolve) => setTimeout(resolve, 10));
    observer.observe(item, 1, () => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    const [startedAt, requests] = [Date.now(), app.server.requests(STATUS)];
    await new Promise((resolve) => setTimeout(resolve, 500));
    const polls = app.server.requests(STATUS) - requests;
    expect(polls).toBeLessThanOrEqual((Date.now() - startedAt) / pollInterval + 2);
    expect(polls).toBeGreaterThan(0);
  });

  it("asks once, if the poll interval is infinite", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ stream: false, pollInterval: Infinity });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    await new Promise((resolve) => setTimeout(resolve, 300));
    // When it is first observed, and when the stream turns out to be missing.
    expect(app.server.requests(STATUS)).toBeLessThanOrEqual(2);
  });

  it("stops polling once nothing is observed", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ stream: false, pollInterval: 20 });
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(app.server.requests(STATUS)).toBeGreaterThan(3));
    stop();
    await settled(() => app.server.requests());
    const requests = app.server.requests();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(app.server.requests()).toBe(requests);
    // It does not count as offline when there is nothing to ask for.
    expect(observer.connection).toBe("polling");
  });
});

describe.concurrent("when the server dies", () => {
  it("is offline, goes on predicting, and is live and right again when it is back", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ pollInterval: 50 });
    const states: string[] = [];
    observer.observe(item, 1, () => {
      if (states.at(-1) !== observer.connection) states.push(observer.connection);
    });
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));

    await app.server.kill();
    await soon(() => expect(observer.connection).toBe("offline"));
    expect(observer.status(item, 1)).toEqual({ ok: true });
    await app.limiter.limit("hourly", { count: 3 });

    await app.server.restart();
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    await soon(() => expect(app.server.open(WATCH)).toBe(1));
    expect(states.at(-1)).toBe("live");
    expect(states).toContain("offline");

    await app.limiter.reset("hourly");
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
  });

  it("recovers by polling, when there is no stream to come back", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ stream: false, pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    await app.server.kill();
    await soon(() => expect(observer.connection).toBe("offline"));
    await app.limiter.limit("hourly", { count: 3 });
    await app.server.restart();
    await soon(() => expect(observer.connection).toBe("polling"));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
  });

  it("finds a server that was not there from the start", async () => {
    await using app = await startLimitServer(LIMITS);
    await app.server.kill();
    const observer = app.observer({ pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("offline"));
    expect(observer.status(item, 1)).toBeUndefined();
    await app.server.restart();
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    expect(observer.connection).not.toBe("offline");
  });

  it("measures the clocks again when the stream is back", async () => {
    let skew = 0;
    await using app = await startLimitServer(LIMITS, { clock: () => Date.now() + skew });
    await app.limiter.limit("hourly", { count: 3 });
    const observer = await app.live(item, { pollInterval: 60_000 }, 3);
    await soon(() => expect(observer.status(item, 3)?.ok).toBe(false));
    await app.server.kill();
    // That was the one poll for a minute.
    await soon(() => expect(observer.connection).toBe("offline"));
    skew = -30 * 60_000;
    await app.server.restart();
    // An hour for three tokens, and half an hour until the clock is where it was.
    const expectedAt = Date.now() + 1.5 * HOUR;
    await soon(() => {
      expect(Math.abs(observer.status(item, 3)!.retryAt! - expectedAt)).toBeLessThan(5_000);
    });
  });
});

describe.concurrent("an answer that is late", () => {
  it("does not undo what the stream has reported since", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = await app.live(item);
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    const release = app.server.delay(STATUS);
    const asked = app.server.requests(STATUS);
    observer.refresh();
    await soon(() => expect(app.server.requests(STATUS)).toBe(asked + 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await app.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    release();
    await soon(() => expect(app.server.open(STATUS)).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(observer.status(item, 1)?.ok).toBe(false);
  });
});
