import { describe, expect, it } from "vitest";
import { HOUR } from "../../server/index.js";
import { startMirror } from "../support/mirror.js";
import { settled, soon } from "../support/soon.js";

const LIMITS = { hourly: { kind: "token bucket", rate: 3, period: HOUR } } as const;
const item = { name: "hourly" };
const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];

describe.concurrent("without a stream", () => {
  it("polls, when the client has no link for subscriptions", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer({ stream: false, pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    await soon(() => expect(mirror.server.requests(STATUS)).toBeGreaterThan(3));
    expect(observer.connection).toBe("polling");
    await mirror.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(mirror.server.requests(WATCH)).toBe(0);
  });

  it("polls, when the server refuses the stream", async () => {
    await using mirror = await startMirror(LIMITS);
    mirror.server.refuse(WATCH);
    const observer = mirror.observer({ pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    await mirror.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(observer.connection).toBe("polling");
  });

  it("goes live, and stops polling, when the server takes the stream after all", async () => {
    await using mirror = await startMirror(LIMITS);
    const admit = mirror.server.refuse(WATCH);
    const observer = mirror.observer({ pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(mirror.server.requests(WATCH)).toBe(1));
    await soon(() => expect(mirror.server.requests(STATUS)).toBeGreaterThan(3));
    admit();
    await soon(() => expect(observer.connection).toBe("live"));
    await settled(() => mirror.server.requests(STATUS));
    const requests = mirror.server.requests(STATUS);
    await mirror.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    expect(mirror.server.requests(STATUS)).toBe(requests);
  });

  it("asks at one pace, though it was stopped and started in the middle of a poll", async () => {
    const pollInterval = 100;
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer({ stream: false, pollInterval });
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    const release = mirror.server.delay(STATUS);
    await soon(() => expect(mirror.server.open(STATUS)).toBeGreaterThan(0));
    stop();
    // The stream that is not there is let go of in the next tick.
    await new Promise((resolve) => setTimeout(resolve, 10));
    observer.observe(item, 1, () => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    const [startedAt, requests] = [Date.now(), mirror.server.requests(STATUS)];
    await new Promise((resolve) => setTimeout(resolve, 500));
    const polls = mirror.server.requests(STATUS) - requests;
    expect(polls).toBeLessThanOrEqual((Date.now() - startedAt) / pollInterval + 2);
    expect(polls).toBeGreaterThan(0);
  });

  it("asks once, where it is to poll never", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer({ stream: false, pollInterval: Infinity });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toBeDefined());
    await new Promise((resolve) => setTimeout(resolve, 300));
    // When it is first looked at, and when there turns out to be no stream.
    expect(mirror.server.requests(STATUS)).toBeLessThanOrEqual(2);
  });

  it("asks no more once nothing is observed", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer({ stream: false, pollInterval: 20 });
    const stop = observer.observe(item, 1, () => {});
    await soon(() => expect(mirror.server.requests(STATUS)).toBeGreaterThan(3));
    stop();
    await settled(() => mirror.server.requests());
    const requests = mirror.server.requests();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(mirror.server.requests()).toBe(requests);
    // Nor does it mistake having nobody to ask for having no answer.
    expect(observer.connection).toBe("polling");
  });
});

describe.concurrent("when the server dies", () => {
  it("is offline, goes on predicting, and is live and right again when it is back", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer({ pollInterval: 50 });
    const states: string[] = [];
    observer.observe(item, 1, () => {
      if (states.at(-1) !== observer.connection) states.push(observer.connection);
    });
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));

    await mirror.server.kill();
    await soon(() => expect(observer.connection).toBe("offline"));
    expect(observer.status(item, 1)).toEqual({ ok: true });
    await mirror.limiter.limit("hourly", { count: 3 });

    await mirror.server.restart();
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    await soon(() => expect(mirror.server.open(WATCH)).toBe(1));
    expect(states.at(-1)).toBe("live");
    expect(states).toContain("offline");

    await mirror.limiter.reset("hourly");
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
  });

  it("recovers by polling, when there is no stream to come back", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer({ stream: false, pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    await mirror.server.kill();
    await soon(() => expect(observer.connection).toBe("offline"));
    await mirror.limiter.limit("hourly", { count: 3 });
    await mirror.server.restart();
    await soon(() => expect(observer.connection).toBe("polling"));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
  });

  it("finds a server that was not there from the start", async () => {
    await using mirror = await startMirror(LIMITS);
    await mirror.server.kill();
    const observer = mirror.observer({ pollInterval: 50 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("offline"));
    expect(observer.status(item, 1)).toBeUndefined();
    await mirror.server.restart();
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    expect(observer.connection).not.toBe("offline");
  });

  it("measures the clocks anew when the stream is back", async () => {
    let skew = 0;
    await using mirror = await startMirror(LIMITS, { clock: () => Date.now() + skew });
    await mirror.limiter.limit("hourly", { count: 3 });
    const observer = mirror.observer({ pollInterval: 60_000 });
    observer.observe(item, 3, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 3)?.ok).toBe(false));
    await mirror.server.kill();
    // That was the one poll for a minute.
    await soon(() => expect(observer.connection).toBe("offline"));
    skew = -30 * 60_000;
    await mirror.server.restart();
    // An hour for three tokens, and half an hour until the clock is where it was.
    const truth = Date.now() + 1.5 * HOUR;
    await soon(() => {
      expect(Math.abs(observer.status(item, 3)!.retryAt! - truth)).toBeLessThan(5_000);
    });
  });
});

describe.concurrent("an answer that is late", () => {
  it("does not undo what the stream has told since", async () => {
    await using mirror = await startMirror(LIMITS);
    const observer = mirror.observer();
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)).toEqual({ ok: true }));
    const release = mirror.server.delay(STATUS);
    const asked = mirror.server.requests(STATUS);
    observer.refresh();
    await soon(() => expect(mirror.server.requests(STATUS)).toBe(asked + 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await mirror.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    release();
    await soon(() => expect(mirror.server.open(STATUS)).toBe(0));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(observer.status(item, 1)?.ok).toBe(false);
  });
});
